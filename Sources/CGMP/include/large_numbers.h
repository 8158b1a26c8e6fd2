#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The maximum length of a number in bytes. Numbers are big-endian. GMP is loaded at the first use.
enum { smartplug_number_limit = 512 };

/// Loads the library. Returns NULL, or the reason of the failure as text.
const char *smartplug_numbers_load(void);

typedef struct {
    const uint8_t *bytes;
    size_t count;
} smartplug_number;

/// Each function writes as many bytes as the modulus has, with leading zeros, and wipes the memory that contained the
/// numbers.
///
/// Returns false if the library is missing, a number is too long, or the modulus is zero. With `is_secret`, the time
/// does not depend on the exponent, and the function also returns false if the modulus is even or the exponent is zero.
bool smartplug_number_power(
    smartplug_number base, smartplug_number exponent, smartplug_number modulus, bool is_secret, uint8_t *result);
bool smartplug_number_multiply(
    smartplug_number left, smartplug_number right, smartplug_number modulus, uint8_t *result);
bool smartplug_number_add(smartplug_number left, smartplug_number right, smartplug_number modulus, uint8_t *result);
