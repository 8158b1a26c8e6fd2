#include <stddef.h>

/// Hashes `password` anew, as the system hashes its users' (crypt(5)), with a salt of its own.
///
/// Returns 0, and in `hash` a text of less than `size` bytes; -1 where that cannot be done.
int password_hash(const char *password, char *hash, size_t size);

/// Returns 1 where `hash` was made of `password`, 0 where it was not, -1 where it is no hash.
int password_matches(const char *password, const char *hash);
