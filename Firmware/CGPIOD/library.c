// Loads libgpiod, and forwards the calls to its interface.

#include <dlfcn.h>
#include <pthread.h>

#include "interface.h"

/// The loaded library; NULL before. It is never unloaded.
static const struct cgpiod_library *_Atomic loaded;

/// Loads a library. A library without one of the functions counts as missing.
static bool load(const struct cgpiod_library *library) {
    void *opened = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    if (!opened) return false;
    for (size_t index = 0; index < library->symbol_count; index++) {
        void *found = dlsym(opened, library->symbols[index].name);
        if (!found) {
            dlclose(opened);
            return false;
        }
        memcpy(library->symbols[index].place, &found, sizeof found);
    }
    loaded = library;
    return true;
}

static bool is_loaded(void) {
    // The lock lets only one thread write the functions' addresses, before any thread reads them.
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    // A failure is not stored, so the next call finds a library that was installed in the meantime.
    bool done = loaded || load(&cgpiod_libgpiod2) || load(&cgpiod_libgpiod1);
    pthread_mutex_unlock(&lock);
    return done;
}

int cgpiod_interface(void) {
    const struct cgpiod_library *library = loaded;
    return library ? library->interface : 0;
}

int cgpiod_open(const char *path, struct gpiod_chip **chip) {
    if (!is_loaded()) return ELIBACC;
    *chip = loaded->open(path);
    return *chip ? 0 : cgpiod_failure();
}

// A caller has a chip only after cgpiod_open() has loaded a library.

void cgpiod_close(struct gpiod_chip *chip) { loaded->close(chip); }

int cgpiod_describe(struct gpiod_chip *chip, struct cgpiod_chip_info *info) { return loaded->describe(chip, info); }

int cgpiod_describe_line(struct gpiod_chip *chip, uint32_t offset, struct cgpiod_line_info *info) {
    return loaded->describe_line(chip, offset, info);
}

int cgpiod_take_output(
    struct gpiod_chip *chip, uint32_t offset, bool active_low, bool active, const char *consumer, int *descriptor) {
    return loaded->take_output(chip, offset, active_low, active, consumer, descriptor);
}

int cgpiod_watch(
    struct gpiod_chip *chip, uint32_t offset, bool active_low, enum cgpiod_bias bias, uint32_t debounce,
    const char *consumer, int *descriptor) {
    return loaded->watch(chip, offset, active_low, bias, debounce, consumer, descriptor);
}
