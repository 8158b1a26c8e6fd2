#include "library_loader.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool smartplug_load(const char *library, const smartplug_function *functions, size_t count, char *reason, size_t size) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        snprintf(reason, size, "%s", why ? why : "unknown error of the loader");
        return false;
    }
    for (size_t index = 0; index < count; index++) {
        void *found = dlsym(handle, functions[index].name);
        if (!found) {
            snprintf(reason, size, "%s has no %s", library, functions[index].name);
            return false;
        }
        memcpy(functions[index].place, &found, sizeof found);
    }
    return true;
}
