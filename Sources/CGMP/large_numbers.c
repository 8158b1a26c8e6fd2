#define _GNU_SOURCE
#include "large_numbers.h"
#include "library_loader.h"

#include <pthread.h>
#include <string.h>

// The declarations of the library, from its documentation. The build needs no header of the library, and the program
// also starts if the library is not installed.
typedef struct {
    int alloc;
    int size;
    void *limbs;
} number;

static struct {
    void (*init)(number *, unsigned long);
    void (*clear)(number *);
    void (*import)(number *, size_t, int, size_t, int, size_t, const void *);
    void *(*export)(void *, size_t *, int, size_t, int, size_t, const number *);
    size_t (*digits)(const number *, int);
    void (*power)(number *, const number *, const number *, const number *);
    void (*secret_power)(number *, const number *, const number *, const number *);
    void (*multiply)(number *, const number *, const number *);
    void (*add)(number *, const number *, const number *);
    void (*remainder)(number *, const number *, const number *);
    const int *limb_bits;
} library;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char missing[200];

static void load(void) {
    const smartplug_function functions[] = {
        {"__gmpz_init2", &library.init},
        {"__gmpz_clear", &library.clear},
        {"__gmpz_import", &library.import},
        {"__gmpz_export", &library.export},
        {"__gmpz_sizeinbase", &library.digits},
        {"__gmpz_powm", &library.power},
        {"__gmpz_powm_sec", &library.secret_power},
        {"__gmpz_mul", &library.multiply},
        {"__gmpz_add", &library.add},
        {"__gmpz_mod", &library.remainder},
        {"__gmp_bits_per_limb", &library.limb_bits},
    };
    smartplug_load("libgmp.so.10", functions, sizeof functions / sizeof *functions, missing, sizeof missing);
}

const char *smartplug_numbers_load(void) {
    pthread_once(&once, load);
    return missing[0] ? missing : NULL;
}

enum { left, right, modulus, outcome, count };

/// The capacity of every number in bits. The product of two numbers fits, so GMP never reallocates a number, and no
/// copy remains in freed memory.
enum { room = 2 * 8 * smartplug_number_limit + 128 };

static bool begin(number numbers[count], smartplug_number first, smartplug_number second, smartplug_number third) {
    const smartplug_number given[] = {first, second, third};
    if (smartplug_numbers_load()) return false;
    for (int index = 0; index < 3; index++) {
        if (given[index].count > smartplug_number_limit) return false;
    }
    for (int index = 0; index < count; index++) library.init(&numbers[index], room);
    for (int index = 0; index < 3; index++) {
        library.import(&numbers[index], given[index].count, 1, 1, 1, 0, given[index].bytes);
    }
    return true;
}

/// Wipes 48 KiB of the stack, where GMP stores temporary numbers. For a power with a modulus of 3,072 bits, its tables
/// need about 30 KB.
static __attribute__((noinline)) void wipe_stack(void) {
    char used[48 * 1024];
    explicit_bzero(used, sizeof used);
}

static bool end(number numbers[count], bool is_done, size_t length, uint8_t *result) {
    if (is_done) {
        size_t written = 0;
        if (numbers[outcome].size) written = (library.digits(&numbers[outcome], 2) + 7) / 8;
        memset(result, 0, length);
        if (written) library.export(result + (length - written), NULL, 1, 1, 1, 0, &numbers[outcome]);
    }
    for (int index = 0; index < count; index++) {
        explicit_bzero(numbers[index].limbs, (size_t)numbers[index].alloc * (size_t)*library.limb_bits / 8);
        library.clear(&numbers[index]);
    }
    wipe_stack();
    return is_done;
}

static bool is_odd(smartplug_number number) { return number.count && number.bytes[number.count - 1] & 1; }

bool smartplug_number_power(
    smartplug_number base, smartplug_number exponent, smartplug_number over, bool is_secret, uint8_t *result) {
    number all[count];
    if (!begin(all, base, exponent, over)) return false;
    bool is_done = all[modulus].size != 0;
    if (is_done && is_secret) {
        // The constant-time function requires an odd modulus and a nonzero exponent (GMP manual, 5.7).
        is_done = is_odd(over) && all[right].size != 0;
        if (is_done) library.secret_power(&all[outcome], &all[left], &all[right], &all[modulus]);
    } else if (is_done) {
        library.power(&all[outcome], &all[left], &all[right], &all[modulus]);
    }
    return end(all, is_done, over.count, result);
}

typedef void operation(number *, const number *, const number *);

static bool combine(
    operation *combined, smartplug_number first, smartplug_number second, smartplug_number over, uint8_t *result) {
    number all[count];
    if (!begin(all, first, second, over)) return false;
    bool is_done = all[modulus].size != 0;
    if (is_done) {
        combined(&all[outcome], &all[left], &all[right]);
        library.remainder(&all[outcome], &all[outcome], &all[modulus]);
    }
    return end(all, is_done, over.count, result);
}

bool smartplug_number_multiply(
    smartplug_number first, smartplug_number second, smartplug_number over, uint8_t *result) {
    return !smartplug_numbers_load() && combine(library.multiply, first, second, over, result);
}

bool smartplug_number_add(smartplug_number first, smartplug_number second, smartplug_number over, uint8_t *result) {
    return !smartplug_numbers_load() && combine(library.add, first, second, over, result);
}
