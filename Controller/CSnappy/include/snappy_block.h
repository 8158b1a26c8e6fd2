#pragma once
#include <stddef.h>

/// Returns the maximum number of bytes that `snappy_block` writes for `length` bytes; 0 if libsnappy cannot be loaded.
size_t snappy_block_limit(size_t length);

/// Compresses bytes to Snappy's block format by libsnappy, which the first call loads. Returns the number of bytes that
/// were written; 0 on failure.
size_t snappy_block(const char *bytes, size_t length, char *compressed, size_t limit);
