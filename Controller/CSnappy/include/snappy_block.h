#pragma once
#include <stddef.h>

/// Bytes that `snappy_block` may need for so many; 0 where libsnappy is not there.
size_t snappy_block_limit(size_t length);

/// Compresses to Snappy's block format by libsnappy, which is loaded at the first call. Gives the number of bytes; 0 where it failed.
size_t snappy_block(const char *bytes, size_t length, char *compressed, size_t limit);
