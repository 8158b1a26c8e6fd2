#define _GNU_SOURCE
#include "desktop_notification.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// The declarations of sd-bus that are used here, as in its manual (systemd 240 and later). So the build needs no
// headers, and the program starts without the library.
typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct {
    const char *name;
    const char *message;
    int need_free;
} sd_bus_error;
typedef int (*bus_answer)(sd_bus_message *answer, void *context, sd_bus_error *error);

typedef struct {
    int (*open_user)(sd_bus **);
    int (*new_call)(sd_bus *, sd_bus_message **, const char *, const char *, const char *, const char *);
    int (*append)(sd_bus_message *, const char *, ...);
    int (*call)(sd_bus *, void **, sd_bus_message *, bus_answer, void *, uint64_t);
    int (*process)(sd_bus *, sd_bus_message **);
    int (*descriptor)(sd_bus *);
    int (*events)(sd_bus *);
    int (*timeout)(sd_bus *, uint64_t *);
    const sd_bus_error *(*error)(sd_bus_message *);
    int (*enter)(sd_bus_message *, char, const char *);
    int (*read)(sd_bus_message *, char, void *);
    sd_bus_message *(*unref_message)(sd_bus_message *);
    sd_bus *(*close)(sd_bus *);
} functions;

static int load(functions *bus, char *message, size_t size) {
    void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        snprintf(message, size, "%s", why ? why : "unknown error of the loader");
        return 0;
    }
    const struct {
        const char *name;
        void *place;
    } wanted[] = {
        {"sd_bus_open_user", &bus->open_user},
        {"sd_bus_message_new_method_call", &bus->new_call},
        {"sd_bus_message_append", &bus->append},
        {"sd_bus_call_async", &bus->call},
        {"sd_bus_process", &bus->process},
        {"sd_bus_get_fd", &bus->descriptor},
        {"sd_bus_get_events", &bus->events},
        {"sd_bus_get_timeout", &bus->timeout},
        {"sd_bus_message_get_error", &bus->error},
        {"sd_bus_message_enter_container", &bus->enter},
        {"sd_bus_message_read_basic", &bus->read},
        {"sd_bus_message_unref", &bus->unref_message},
        {"sd_bus_close_unref", &bus->close},
    };
    for (size_t index = 0; index < sizeof wanted / sizeof *wanted; index++) {
        void *found = dlsym(library, wanted[index].name);
        if (!found) {
            snprintf(message, size, "libsystemd.so.0 has no %s", wanted[index].name);
            return 0;
        }
        memcpy(wanted[index].place, &found, sizeof found);
    }
    return 1;
}

// The state of a notification between its call and its answer.
struct course {
    functions sd;
    int is_answered;
    /// True if the server's answer to GetCapabilities lists body-markup.
    int has_markup;
    /// True if the server's answer to Notify is an error.
    int is_refused;
    char *message;
    size_t size;
};

static int64_t microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int take_capabilities(sd_bus_message *answer, void *context, sd_bus_error *error) {
    (void)error;
    struct course *course = context;
    course->is_answered = 1;
    // A server that does not report its capabilities gets the text without markup.
    const char *capability;
    if (course->sd.error(answer) || course->sd.enter(answer, 'a', "s") <= 0) return 1;
    while (course->sd.read(answer, 's', &capability) > 0) {
        if (strcmp(capability, "body-markup") == 0) course->has_markup = 1;
    }
    return 1;
}

static int take_answer(sd_bus_message *answer, void *context, sd_bus_error *error) {
    (void)error;
    struct course *course = context;
    course->is_answered = 1;
    const sd_bus_error *why = course->sd.error(answer);
    if (why) {
        course->is_refused = 1;
        snprintf(course->message, course->size, "%s", why->message && *why->message ? why->message : why->name);
    }
    return 1;
}

static sd_bus_message *method(const functions *sd, sd_bus *bus, const char *name, int *status) {
    sd_bus_message *call = NULL;
    const char *service = "org.freedesktop.Notifications";
    *status = sd->new_call(bus, &call, service, "/org/freedesktop/Notifications", service, name);
    return *status < 0 ? NULL : call;
}

// Sends the call, releases it, and waits for its answer.
static enum desktop_result ask(
    sd_bus *bus, sd_bus_message *call, int status, bus_answer answer, struct course *course, int64_t until, int interruption) {
    const functions *sd = &course->sd;
    course->is_answered = 0;
    int64_t left = until - microseconds();
    if (status >= 0) status = sd->call(bus, NULL, call, answer, course, left > 1 ? (uint64_t)left : 1);
    if (call) sd->unref_message(call);
    while (status >= 0 && !course->is_answered) {
        status = sd->process(bus, NULL);
        if (status != 0) continue;
        uint64_t wanted = UINT64_MAX;
        int descriptor = sd->descriptor(bus), events = sd->events(bus);
        if (descriptor < 0 || events < 0) {
            status = descriptor < 0 ? descriptor : events;
            break;
        }
        sd->timeout(bus, &wanted);
        int64_t now = microseconds(), wake = wanted < (uint64_t)until ? (int64_t)wanted : until;
        if (now >= until) return desktop_late;
        struct pollfd polled[] = {{descriptor, (short)events, 0}, {interruption, POLLIN, 0}};
        poll(polled, 2, wake <= now ? 0 : (int)((wake - now) / 1000 + 1));
        if (polled[1].revents) return desktop_interrupted;
    }
    if (status >= 0) return desktop_shown;
    snprintf(course->message, course->size, "%s", strerror(-status));
    return desktop_failed;
}

enum desktop_result desktop_notify(
    const struct desktop_notification *notification, int milliseconds, int interruption, char *message, size_t message_size) {
    struct course course = {.message = message, .size = message_size};
    const functions *sd = &course.sd;
    if (!load(&course.sd, message, message_size)) return desktop_missing;
    const int64_t until = microseconds() + (int64_t)milliseconds * 1000;
    sd_bus *bus = NULL;
    int status = sd->open_user(&bus);
    if (status < 0) {
        snprintf(message, message_size, "the session bus is not available: %s", strerror(-status));
        return desktop_failed;
    }
    sd_bus_message *call = method(sd, bus, "GetCapabilities", &status);
    enum desktop_result result = ask(bus, call, status, take_capabilities, &course, until, interruption);
    if (result == desktop_shown) {
        const char *body = course.has_markup ? notification->marked_up_body : notification->body;
        call = method(sd, bus, "Notify", &status);
        // Application name, replaced id, icon, summary, body, no actions, one hint, and the timeout (-1: the server's
        // default).
        if (call) {
            status = sd->append(
                call, "susssasa{sv}i", "smartplug", (uint32_t)0, "", notification->summary, body, 0, 1, "urgency", "y",
                (int)notification->urgency, (int32_t)-1);
        }
        result = ask(bus, call, status, take_answer, &course, until, interruption);
        if (result == desktop_shown && course.is_refused) result = desktop_failed;
    }
    sd->close(bus);
    return result;
}
