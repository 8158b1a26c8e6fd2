#pragma once
#include <stdbool.h>
#include <stddef.h>

/// A function of a library, and the pointer that receives its address.
typedef struct {
    const char *name;
    void *place;
} smartplug_function;

/// Loads a library for the life of the process and looks up functions.
///
/// Returns true if the library has all the functions; otherwise `reason` receives the cause as text.
bool smartplug_load(const char *library, const smartplug_function *functions, size_t count, char *reason, size_t size);
