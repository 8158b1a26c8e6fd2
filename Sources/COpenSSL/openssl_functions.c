#define _GNU_SOURCE
#include "openssl_functions.h"
#include "library_loader.h"

#include <pthread.h>
#include <string.h>

// The declarations of the library, from its documentation. The build needs no header of the library, and the program
// also starts if the library is not installed.
typedef void number;
typedef void numbers;
typedef void group;
typedef void point;
typedef void context;
typedef void cipher;
typedef void digest;

static struct {
    int (*initialize)(uint64_t, const void *);
    void (*clear_errors)(void);

    const cipher *(*ccm)(void);
    context *(*new_context)(void);
    void (*free_context)(context *);
    int (*control)(context *, int, int, void *);
    int (*begin_encryption)(context *, const cipher *, void *, const uint8_t *, const uint8_t *);
    int (*encrypt)(context *, uint8_t *, int *, const uint8_t *, int);
    int (*finish_encryption)(context *, uint8_t *, int *);
    int (*begin_decryption)(context *, const cipher *, void *, const uint8_t *, const uint8_t *);
    int (*decrypt)(context *, uint8_t *, int *, const uint8_t *, int);

    const digest *(*sha256)(void);
    int (*stretch)(const char *, int, const uint8_t *, int, int, const digest *, int, uint8_t *);

    numbers *(*new_numbers)(void);
    void (*free_numbers)(numbers *);
    number *(*new_number)(void);
    void (*free_number)(number *);
    void (*set_flags)(number *, int);
    number *(*read_number)(const uint8_t *, int, number *);
    int (*write_number)(const number *, uint8_t *, int);
    int (*remainder)(number *, const number *, const number *, numbers *);

    group *(*new_group)(int);
    const number *(*order)(const group *);
    point *(*new_point)(const group *);
    void (*free_point)(point *);
    int (*read_point)(const group *, point *, const uint8_t *, size_t, numbers *);
    size_t (*write_point)(const group *, const point *, int, uint8_t *, size_t, numbers *);
    int (*is_on_curve)(const group *, const point *, numbers *);
    int (*is_at_infinity)(const group *, const point *);
    int (*multiply)(const group *, point *, const number *, const point *, const number *, numbers *);
    int (*add)(const group *, point *, const point *, const point *, numbers *);
    int (*invert)(const group *, point *, numbers *);
} library;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char missing[200];
static group *p256;

// Constants of the library's headers.
enum {
    set_nonce_length = 0x9,
    get_tag = 0x10,
    set_tag = 0x11,
    constant_time = 0x4,
    nid_p256 = 415,
    uncompressed = 4,
    no_configuration = 0x80,
    no_exit_handler = 0x80000,
};

static void load(void) {
    const smartplug_function functions[] = {
        {"OPENSSL_init_crypto", &library.initialize},
        {"ERR_clear_error", &library.clear_errors},
        {"EVP_aes_128_ccm", &library.ccm},
        {"EVP_CIPHER_CTX_new", &library.new_context},
        {"EVP_CIPHER_CTX_free", &library.free_context},
        {"EVP_CIPHER_CTX_ctrl", &library.control},
        {"EVP_EncryptInit_ex", &library.begin_encryption},
        {"EVP_EncryptUpdate", &library.encrypt},
        {"EVP_EncryptFinal_ex", &library.finish_encryption},
        {"EVP_DecryptInit_ex", &library.begin_decryption},
        {"EVP_DecryptUpdate", &library.decrypt},
        {"EVP_sha256", &library.sha256},
        {"PKCS5_PBKDF2_HMAC", &library.stretch},
        {"BN_CTX_new", &library.new_numbers},
        {"BN_CTX_free", &library.free_numbers},
        {"BN_new", &library.new_number},
        {"BN_clear_free", &library.free_number},
        {"BN_set_flags", &library.set_flags},
        {"BN_bin2bn", &library.read_number},
        {"BN_bn2binpad", &library.write_number},
        {"BN_nnmod", &library.remainder},
        {"EC_GROUP_new_by_curve_name", &library.new_group},
        {"EC_GROUP_get0_order", &library.order},
        {"EC_POINT_new", &library.new_point},
        {"EC_POINT_clear_free", &library.free_point},
        {"EC_POINT_oct2point", &library.read_point},
        {"EC_POINT_point2oct", &library.write_point},
        {"EC_POINT_is_on_curve", &library.is_on_curve},
        {"EC_POINT_is_at_infinity", &library.is_at_infinity},
        {"EC_POINT_mul", &library.multiply},
        {"EC_POINT_add", &library.add},
        {"EC_POINT_invert", &library.invert},
    };
    if (!smartplug_load("libcrypto.so.3", functions, sizeof functions / sizeof *functions, missing, sizeof missing)) {
        return;
    }
    // The system's configuration of OpenSSL is for programs that use TLS. Without an exit handler, threads that still
    // encrypt while the process exits are safe.
    library.initialize(no_configuration | no_exit_handler, NULL);
    p256 = library.new_group(nid_p256);
    if (!p256) strncpy(missing, "libcrypto.so.3 does not support P-256", sizeof missing - 1);
}

const char *smartplug_openssl_load(void) {
    pthread_once(&once, load);
    return missing[0] ? missing : NULL;
}

/// Wipes 16 KiB of the stack, where OpenSSL stores temporary values.
static __attribute__((noinline)) void wipe_stack(void) {
    char used[16 * 1024];
    explicit_bzero(used, sizeof used);
}

/// Clears the thread's error queue after a failure, so that other users of the library do not read these errors.
static bool end(bool is_done) {
    if (!is_done) library.clear_errors();
    wipe_stack();
    return is_done;
}

/// The library requires a pointer for an empty message, because NULL has a different meaning.
static uint8_t empty[smartplug_tag_length];

static bool is_sealable(smartplug_bytes key, smartplug_bytes nonce, smartplug_bytes data) {
    return !smartplug_openssl_load() && key.count == smartplug_key_length && nonce.count == smartplug_nonce_length &&
           data.count <= smartplug_sealed_limit;
}

bool smartplug_ccm_seal(
    smartplug_bytes key, smartplug_bytes nonce, smartplug_bytes data, smartplug_bytes plaintext, uint8_t *sealed) {
    if (!is_sealable(key, nonce, data) || plaintext.count > smartplug_sealed_limit) return false;
    context *used = library.new_context();
    if (!used) return end(false);
    int count = 0;
    const int length = (int)plaintext.count;
    const bool is_done =
        library.begin_encryption(used, library.ccm(), NULL, NULL, NULL) == 1 &&
        library.control(used, set_nonce_length, smartplug_nonce_length, NULL) == 1 &&
        library.control(used, set_tag, smartplug_tag_length, NULL) == 1 &&
        library.begin_encryption(used, NULL, NULL, key.bytes, nonce.bytes) == 1 &&
        library.encrypt(used, NULL, &count, NULL, length) == 1 &&
        (data.count == 0 || library.encrypt(used, NULL, &count, data.bytes, (int)data.count) == 1) &&
        library.encrypt(used, sealed, &count, length ? plaintext.bytes : empty, length) == 1 &&
        library.finish_encryption(used, sealed + length, &count) == 1 &&
        library.control(used, get_tag, smartplug_tag_length, sealed + length) == 1;
    library.free_context(used);
    return end(is_done);
}

bool smartplug_ccm_open(
    smartplug_bytes key, smartplug_bytes nonce, smartplug_bytes data, smartplug_bytes sealed, uint8_t *plaintext) {
    if (!is_sealable(key, nonce, data) || sealed.count < smartplug_tag_length ||
        sealed.count > smartplug_sealed_limit + smartplug_tag_length) {
        return false;
    }
    context *used = library.new_context();
    if (!used) return end(false);
    int count = 0;
    const int length = (int)(sealed.count - smartplug_tag_length);
    uint8_t tag[smartplug_tag_length], nothing[smartplug_tag_length];
    memcpy(tag, sealed.bytes + length, sizeof tag);
    const bool is_done =
        library.begin_decryption(used, library.ccm(), NULL, NULL, NULL) == 1 &&
        library.control(used, set_nonce_length, smartplug_nonce_length, NULL) == 1 &&
        library.control(used, set_tag, smartplug_tag_length, tag) == 1 &&
        library.begin_decryption(used, NULL, NULL, key.bytes, nonce.bytes) == 1 &&
        library.decrypt(used, NULL, &count, NULL, length) == 1 &&
        (data.count == 0 || library.decrypt(used, NULL, &count, data.bytes, (int)data.count) == 1) &&
        library.decrypt(used, length ? plaintext : nothing, &count, length ? sealed.bytes : empty, length) == 1;
    library.free_context(used);
    if (!is_done && length) explicit_bzero(plaintext, (size_t)length);
    return end(is_done);
}

bool smartplug_stretch(smartplug_bytes secret, smartplug_bytes salt, int iterations, size_t count, uint8_t *result) {
    if (smartplug_openssl_load() || iterations < 1 || count < 1 || count > smartplug_stretched_limit ||
        secret.count > smartplug_sealed_limit || salt.count > smartplug_sealed_limit) {
        return false;
    }
    return end(
        library.stretch(
            secret.count ? (const char *)secret.bytes : "", (int)secret.count, salt.count ? salt.bytes : empty,
            (int)salt.count, iterations, library.sha256(), (int)count, result) == 1);
}

/// The values of one operation on the curve.
typedef struct {
    numbers *temporary;
    number *scalar, *result;
    point *left, *right;
} operation;

static bool begin(operation *used) {
    memset(used, 0, sizeof *used);
    if (smartplug_openssl_load()) return false;
    used->temporary = library.new_numbers();
    used->scalar = library.new_number();
    used->result = library.new_number();
    used->left = library.new_point(p256);
    used->right = library.new_point(p256);
    if (used->scalar) library.set_flags(used->scalar, constant_time);
    return used->temporary && used->scalar && used->result && used->left && used->right;
}

static bool finish(operation *used, bool is_done) {
    if (smartplug_openssl_load()) return false;
    if (used->temporary) library.free_numbers(used->temporary);
    if (used->scalar) library.free_number(used->scalar);
    if (used->result) library.free_number(used->result);
    if (used->left) library.free_point(used->left);
    if (used->right) library.free_point(used->right);
    return end(is_done);
}

static bool read_point(operation *used, smartplug_bytes bytes, point *place) {
    return bytes.count == smartplug_point_length && bytes.bytes[0] == uncompressed &&
           library.read_point(p256, place, bytes.bytes, bytes.count, used->temporary) == 1 &&
           library.is_on_curve(p256, place, used->temporary) == 1;
}

static bool write_point(operation *used, const point *written, uint8_t *result) {
    return !library.is_at_infinity(p256, written) &&
           library.write_point(p256, written, uncompressed, result, smartplug_point_length, used->temporary) ==
               smartplug_point_length;
}

bool smartplug_p256_reduce(smartplug_bytes number, uint8_t *result) {
    if (number.count > smartplug_reducible_limit) return false;
    operation used;
    const bool is_done =
        begin(&used) &&
        library.read_number(number.count ? number.bytes : empty, (int)number.count, used.scalar) &&
        library.remainder(used.result, used.scalar, library.order(p256), used.temporary) == 1 &&
        library.write_number(used.result, result, smartplug_scalar_length) == smartplug_scalar_length;
    return finish(&used, is_done);
}

bool smartplug_p256_multiply(smartplug_bytes point, smartplug_bytes scalar, uint8_t *result) {
    if (scalar.count != smartplug_scalar_length) return false;
    operation used;
    bool is_done = begin(&used) && library.read_number(scalar.bytes, smartplug_scalar_length, used.scalar);
    if (is_done && point.bytes) {
        is_done = read_point(&used, point, used.left) &&
                  library.multiply(p256, used.right, NULL, used.left, used.scalar, used.temporary) == 1;
    } else if (is_done) {
        is_done = library.multiply(p256, used.right, used.scalar, NULL, NULL, used.temporary) == 1;
    }
    return finish(&used, is_done && write_point(&used, used.right, result));
}

bool smartplug_p256_add(smartplug_bytes left, smartplug_bytes right, bool subtracts, uint8_t *result) {
    operation used;
    const bool is_done = begin(&used) && read_point(&used, left, used.left) && read_point(&used, right, used.right) &&
                         (!subtracts || library.invert(p256, used.right, used.temporary) == 1) &&
                         library.add(p256, used.left, used.left, used.right, used.temporary) == 1 &&
                         write_point(&used, used.left, result);
    return finish(&used, is_done);
}
