#include <stddef.h>

/// Hashes `password` with a new random salt and the system's default method for user passwords (crypt(5)).
///
/// Returns 0 and writes a zero-terminated text of less than `size` bytes to `hash`; returns -1 on failure.
int password_hash(const char *password, char *hash, size_t size);

/// Returns 1 if `hash` is a hash of `password`, 0 if it is not, and -1 if `hash` is not a valid hash.
int password_matches(const char *password, const char *hash);
