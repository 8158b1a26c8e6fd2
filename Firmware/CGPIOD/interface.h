#ifndef CGPIOD_INTERFACE_H
#define CGPIOD_INTERFACE_H

#include <gpiod.h>
#include <string.h>

#include "cgpiod.h"

// Only the first interface has bulks of lines.
#ifdef GPIOD_LINE_BULK_INITIALIZER
#define CGPIOD_INTERFACE 1
#else
#define CGPIOD_INTERFACE 2
#endif

static inline void cgpiod_copy(char to[CGPIOD_NAME_SIZE], const char *from) {
    memset(to, 0, CGPIOD_NAME_SIZE);
    if (from) strncpy(to, from, CGPIOD_NAME_SIZE - 1);
}

#endif
