#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Arithmetic with numbers of up to 512 bytes, big-endian, by GMP, which is loaded when it is first needed.
enum { smartplug_number_limit = 512 };

/// Loads the library. NULL, or text that says why it cannot be loaded.
const char *smartplug_numbers_load(void);

typedef struct {
    const uint8_t *bytes;
    size_t count;
} smartplug_number;

/// Each writes as many bytes as the modulus has, with zeros in front. Memory in which the numbers stood is wiped.
///
/// Returns false where the library is not there, a number is longer than the limit, or the modulus is zero.
bool smartplug_number_power(
    smartplug_number base, smartplug_number exponent, smartplug_number modulus, bool is_secret, uint8_t *result);
bool smartplug_number_multiply(
    smartplug_number left, smartplug_number right, smartplug_number modulus, uint8_t *result);
bool smartplug_number_add(smartplug_number left, smartplug_number right, smartplug_number modulus, uint8_t *result);
