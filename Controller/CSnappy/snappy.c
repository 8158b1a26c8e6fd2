#include "snappy_block.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

// The functions of libsnappy that this file uses, declared as in the documentation of libsnappy. So the build needs no
// header, and the program starts without libsnappy.
static int (*compress_block)(const char *, size_t, char *, size_t *);
static size_t (*longest)(size_t);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *handle = dlopen("libsnappy.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
    void *found = dlsym(handle, "snappy_compress"), *limit = dlsym(handle, "snappy_max_compressed_length");
    if (!found || !limit) return;
    memcpy(&compress_block, &found, sizeof found);
    memcpy(&longest, &limit, sizeof limit);
}

size_t snappy_block_limit(size_t length) {
    pthread_once(&once, load);
    return longest ? longest(length) : 0;
}

size_t snappy_block(const char *bytes, size_t length, char *compressed, size_t limit) {
    pthread_once(&once, load);
    return compress_block && !compress_block(bytes, length, compressed, &limit) ? limit : 0;
}
