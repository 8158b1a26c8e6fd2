#ifndef CGPIOD_INTERFACE_H
#define CGPIOD_INTERFACE_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "cgpiod.h"

/// One of libgpiod's interfaces. Its functions may be called after all `symbols` were found in its library.
struct cgpiod_library {
    int interface;
    /// The file name for the dynamic loader.
    const char *file;
    const struct cgpiod_symbol {
        const char *name;
        /// The variable for the function's address.
        void *place;
    } *symbols;
    size_t symbol_count;
    struct gpiod_chip *(*open)(const char *path);
    void (*close)(struct gpiod_chip *chip);
    int (*describe)(struct gpiod_chip *chip, struct cgpiod_chip_info *info);
    int (*describe_line)(struct gpiod_chip *chip, uint32_t offset, struct cgpiod_line_info *info);
    int (*take_output)(
        struct gpiod_chip *chip, uint32_t offset, bool active_low, bool active, const char *consumer, int *descriptor);
    int (*watch)(
        struct gpiod_chip *chip, uint32_t offset, bool active_low, enum cgpiod_bias bias, uint32_t debounce,
        const char *consumer, int *descriptor);
};

extern const struct cgpiod_library cgpiod_libgpiod1, cgpiod_libgpiod2;

// These macros turn the lists in libgpiod1.h and libgpiod2.h into members of a structure, symbols with their variables,
// and constants.
#define CGPIOD_MEMBER(type, name, parameters) type(*name) parameters;
#define CGPIOD_SYMBOL(type, name, parameters) {"gpiod_" #name, &gpiod.name},
#define CGPIOD_CONSTANT(name, value) name = value,

static inline void cgpiod_copy(char to[CGPIOD_NAME_SIZE], const char *from) {
    memset(to, 0, CGPIOD_NAME_SIZE);
    if (from) strncpy(to, from, CGPIOD_NAME_SIZE - 1);
}

/// Returns the error of a failed libgpiod call.
static inline int cgpiod_failure(void) { return errno ? errno : EIO; }

/// Duplicates a descriptor. The kernel holds a line while any of its descriptors is open, so the copy outlives
/// libgpiod's object.
static inline int cgpiod_duplicate(int descriptor, int *copy) {
    int made = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (made < 0) return errno;
    *copy = made;
    return 0;
}

#endif
