#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// OpenSSL is loaded at the first use. All functions return false if the library is missing, a length is not valid or
/// the operation fails. They wipe the temporary memory that contained secrets.
enum {
    smartplug_key_length = 16,
    smartplug_nonce_length = 13,
    smartplug_tag_length = 16,
    smartplug_scalar_length = 32,
    smartplug_point_length = 65,
    /// The maximum length of a number that is reduced, in bytes.
    smartplug_reducible_limit = 64,
    /// The maximum length of a message: with a nonce of 13 bytes, the length has two bytes (RFC 3610, 2.1).
    smartplug_sealed_limit = 65535,
    /// The maximum length of the result of PBKDF2, in bytes.
    smartplug_stretched_limit = 1024,
};

/// Loads the library. Returns NULL, or the reason of the failure as text.
const char *smartplug_openssl_load(void);

typedef struct {
    const uint8_t *bytes;
    size_t count;
} smartplug_bytes;

/// Encrypts with AES-128-CCM. `sealed` receives the ciphertext and the tag.
bool smartplug_ccm_seal(
    smartplug_bytes key, smartplug_bytes nonce, smartplug_bytes data, smartplug_bytes plaintext, uint8_t *sealed);

/// Decrypts with AES-128-CCM. `sealed` is the ciphertext and the tag. Returns false and wipes the plaintext if the tag
/// is not authentic.
bool smartplug_ccm_open(
    smartplug_bytes key, smartplug_bytes nonce, smartplug_bytes data, smartplug_bytes sealed, uint8_t *plaintext);

/// Derives `count` bytes with PBKDF2 and HMAC-SHA256.
bool smartplug_stretch(smartplug_bytes secret, smartplug_bytes salt, int iterations, size_t count, uint8_t *result);

/// Computes a big-endian number modulo the order of P-256, as 32 bytes.
bool smartplug_p256_reduce(smartplug_bytes number, uint8_t *result);

/// Multiplies a point of P-256, or the generator if `point.bytes` is NULL, by a scalar of 32 bytes. Points have 65
/// bytes and are not compressed. Returns false if a point is not on the curve or the result is the point at infinity.
bool smartplug_p256_multiply(smartplug_bytes point, smartplug_bytes scalar, uint8_t *result);

/// Adds two points of P-256, or subtracts the right one.
bool smartplug_p256_add(smartplug_bytes left, smartplug_bytes right, bool subtracts, uint8_t *result);
