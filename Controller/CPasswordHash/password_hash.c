#define _GNU_SOURCE
#include "password_hash.h"

#include <crypt.h>
#include <stdlib.h>
#include <string.h>

// crypt_data has tens of kilobytes, too much for the stack of a thread.
static int hashed(const char *password, const char *setting, char *hash, size_t size) {
    struct crypt_data *data = calloc(1, sizeof *data);
    if (data == NULL) return -1;
    const char *result = crypt_r(password, setting, data);
    // crypt_r reports a failure by NULL or by a text that begins with '*', which no hash does.
    int is_good = result != NULL && result[0] != '*' && strlen(result) < size;
    if (is_good) strcpy(hash, result);
    explicit_bzero(data, sizeof *data);
    free(data);
    return is_good ? 0 : -1;
}

int password_hash(const char *password, char *hash, size_t size) {
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];
    if (crypt_gensalt_rn(NULL, 0, NULL, 0, setting, sizeof setting) == NULL) return -1;
    return hashed(password, setting, hash, size);
}

int password_matches(const char *password, const char *hash) {
    char again[CRYPT_OUTPUT_SIZE];
    if (hashed(password, hash, again, sizeof again) != 0) return -1;
    size_t length = strlen(hash);
    if (strlen(again) != length) return 0;
    unsigned char difference = 0;
    for (size_t index = 0; index < length; index++) difference |= (unsigned char)(again[index] ^ hash[index]);
    return difference == 0;
}
