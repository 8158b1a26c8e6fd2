#include "rsvg.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// The declarations of the libraries that are used, from their documentation (librsvg 2.46 and later, cairo 1.10 and
// later). So the build needs no headers, and the program starts without the libraries.
typedef struct {
    unsigned int domain;
    int code;
    char *message;
} glib_error;
typedef struct {
    double x, y, width, height;
} rsvg_rectangle;
typedef unsigned int (*cairo_write)(void *context, const unsigned char *bytes, unsigned int count);

enum { cairo_format_argb32 = 0, cairo_success = 0 };

typedef struct {
    void *(*handle_from_data)(const unsigned char *, size_t, glib_error **);
    int (*render)(void *, void *, const rsvg_rectangle *, glib_error **);
    void (*unref)(void *);
    void (*error_free)(glib_error *);
    void *(*surface_create)(int, int, int);
    unsigned int (*surface_status)(void *);
    unsigned int (*surface_write)(void *, cairo_write, void *);
    void (*surface_destroy)(void *);
    void *(*create)(void *);
    void (*destroy)(void *);
    const char *(*status_text)(unsigned int);
} libraries;

typedef struct {
    void (*take)(void *, const unsigned char *, size_t);
    void *context;
} receiver;

static unsigned int forward(void *context, const unsigned char *bytes, unsigned int count) {
    receiver *to = context;
    to->take(to->context, bytes, count);
    return cairo_success;
}

static int load(libraries *all, char *message, size_t size) {
    void *rsvg = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);
    void *cairo = rsvg ? dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!cairo) {
        const char *why = dlerror();
        snprintf(message, size, "%s", why ? why : "unknown error of the loader");
        return 0;
    }
    // dlsym also searches the dependencies of a library: GLib is a dependency of librsvg.
    const struct {
        void *library;
        const char *name;
        void *place;
    } functions[] = {
        {rsvg, "rsvg_handle_new_from_data", &all->handle_from_data},
        {rsvg, "rsvg_handle_render_document", &all->render},
        {rsvg, "g_object_unref", &all->unref},
        {rsvg, "g_error_free", &all->error_free},
        {cairo, "cairo_image_surface_create", &all->surface_create},
        {cairo, "cairo_surface_status", &all->surface_status},
        {cairo, "cairo_surface_write_to_png_stream", &all->surface_write},
        {cairo, "cairo_surface_destroy", &all->surface_destroy},
        {cairo, "cairo_create", &all->create},
        {cairo, "cairo_destroy", &all->destroy},
        {cairo, "cairo_status_to_string", &all->status_text},
    };
    for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
        void *found = dlsym(functions[index].library, functions[index].name);
        if (!found) {
            snprintf(message, size, "librsvg-2.so.2 or libcairo.so.2 has no %s", functions[index].name);
            return 0;
        }
        memcpy(functions[index].place, &found, sizeof found);
    }
    return 1;
}

static enum smartplug_rsvg_result unreadable(
    const libraries *all, glib_error *error, char *message, size_t size) {
    snprintf(message, size, "%s", error && error->message ? error->message : "librsvg reported no reason");
    if (error) all->error_free(error);
    return smartplug_rsvg_unreadable;
}

enum smartplug_rsvg_result smartplug_rsvg_png(
    const unsigned char *svg, size_t length, int width, int height,
    void (*take)(void *context, const unsigned char *bytes, size_t count), void *context,
    char *message, size_t message_size) {
    libraries all;
    if (!load(&all, message, message_size)) return smartplug_rsvg_missing;
    glib_error *error = NULL;
    void *document = all.handle_from_data(svg, length, &error);
    if (!document) return unreadable(&all, error, message, message_size);

    // cairo never returns NULL: a surface that could not be created has an error status.
    void *surface = all.surface_create(cairo_format_argb32, width, height);
    unsigned int status = all.surface_status(surface);
    enum smartplug_rsvg_result result = smartplug_rsvg_done;
    if (status == cairo_success) {
        void *drawing = all.create(surface);
        const rsvg_rectangle page = {0, 0, width, height};
        if (!all.render(document, drawing, &page, &error)) result = unreadable(&all, error, message, message_size);
        all.destroy(drawing);
        receiver to = {take, context};
        if (result == smartplug_rsvg_done) status = all.surface_write(surface, forward, &to);
    }
    if (status != cairo_success) {
        snprintf(message, message_size, "%s", all.status_text(status));
        result = smartplug_rsvg_failed;
    }
    all.surface_destroy(surface);
    all.unref(document);
    return result;
}
