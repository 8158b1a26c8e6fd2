#pragma once
#include <stdbool.h>
#include <stddef.h>

/// A function of a library, and the pointer that gets its address.
typedef struct {
    const char *name;
    void *place;
} smartplug_function;

/// Loads a library for the rest of the process, and finds the functions in it.
///
/// Returns whether it has all of them; where not, `reason` gets text that says why.
bool smartplug_load(const char *library, const smartplug_function *functions, size_t count, char *reason, size_t size);
