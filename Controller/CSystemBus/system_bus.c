#define _GNU_SOURCE
#include "system_bus.h"
#include "library_loader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The declarations of the library that are used, from its manual pages. So the build needs no headers, and the program
// starts without the library.
typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct sd_bus_slot sd_bus_slot;
typedef struct {
    const char *name;
    const char *message;
    int needs_free;
} sd_bus_error;
typedef int (*handler)(sd_bus_message *, void *, sd_bus_error *);

static struct {
    int (*open)(sd_bus **);
    sd_bus *(*close)(sd_bus *);
    int (*set_timeout)(sd_bus *, uint64_t);
    int (*match)(
        sd_bus *, sd_bus_slot **, const char *, const char *, const char *, const char *, handler, void *);
    int (*call)(
        sd_bus *, const char *, const char *, const char *, const char *, sd_bus_error *, sd_bus_message **,
        const char *, ...);
    int (*property)(sd_bus *, const char *, const char *, const char *, const char *, sd_bus_error *, char, void *);
    int (*read)(sd_bus_message *, const char *, ...);
    sd_bus_message *(*unref)(sd_bus_message *);
    int (*process)(sd_bus *, sd_bus_message **);
    int (*descriptor)(sd_bus *);
    int (*events)(sd_bus *);
    int (*timeout)(sd_bus *, uint64_t *);
    void (*free_error)(sd_bus_error *);
} library;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char missing[200];

static void load(void) {
    const smartplug_function functions[] = {
        {"sd_bus_open_system", &library.open},
        {"sd_bus_flush_close_unref", &library.close},
        {"sd_bus_set_method_call_timeout", &library.set_timeout},
        {"sd_bus_match_signal", &library.match},
        {"sd_bus_call_method", &library.call},
        {"sd_bus_get_property_trivial", &library.property},
        {"sd_bus_message_read", &library.read},
        {"sd_bus_message_unref", &library.unref},
        {"sd_bus_process", &library.process},
        {"sd_bus_get_fd", &library.descriptor},
        {"sd_bus_get_events", &library.events},
        {"sd_bus_get_timeout", &library.timeout},
        {"sd_bus_error_free", &library.free_error},
    };
    smartplug_load("libsystemd.so.0", functions, sizeof functions / sizeof *functions, missing, sizeof missing);
}

static const char name[] = "org.freedesktop.login1";
static const char path[] = "/org/freedesktop/login1";
static const char manager[] = "org.freedesktop.login1.Manager";

/// The limit of a call in microseconds. logind answers within milliseconds.
enum { patience = 5000000 };
/// The limit of unread signals. logind sends two per suspend; the oldest one is dropped.
enum { most_unread = 8 };

struct smartplug_logind {
    sd_bus *bus;
    bool unread[most_unread];
    int count;
};

static void explain(char *reason, size_t size, const char *what, int code, const sd_bus_error *error) {
    char text[200];
    const char *why = error && error->message ? error->message : strerror_r(-code, text, sizeof text);
    snprintf(reason, size, "%s: %s", what, why);
}

static int note(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    smartplug_logind *link = data;
    int begins = 0;
    if (library.read(message, "b", &begins) < 0) return 0;
    if (link->count == most_unread) {
        link->count--;
        memmove(link->unread, link->unread + 1, link->count * sizeof *link->unread);
    }
    link->unread[link->count++] = begins != 0;
    return 0;
}

smartplug_logind *smartplug_logind_open(char *reason, size_t size) {
    pthread_once(&once, load);
    if (missing[0]) {
        snprintf(reason, size, "%s", missing);
        return NULL;
    }
    smartplug_logind *link = calloc(1, sizeof *link);
    if (!link) {
        snprintf(reason, size, "no memory is available");
        return NULL;
    }
    int code = library.open(&link->bus);
    if (code < 0) {
        explain(reason, size, "cannot connect to the system bus", code, NULL);
        free(link);
        return NULL;
    }
    library.set_timeout(link->bus, patience);
    code = library.match(link->bus, NULL, name, path, manager, "PrepareForSleep", note, link);
    if (code < 0) {
        explain(reason, size, "cannot subscribe to the signals of logind", code, NULL);
        smartplug_logind_close(link);
        return NULL;
    }
    return link;
}

int smartplug_logind_inhibit(smartplug_logind *link, const char *who, const char *why, char *reason, size_t size) {
    sd_bus_error error = {0};
    sd_bus_message *reply = NULL;
    int code = library.call(
        link->bus, name, path, manager, "Inhibit", &error, &reply, "ssss", "sleep", who, why, "delay");
    int lock = -1, received = -1;
    if (code >= 0) code = library.read(reply, "h", &received);
    if (code >= 0) {
        lock = fcntl(received, F_DUPFD_CLOEXEC, 3);
        code = lock < 0 ? -errno : 0;
    }
    if (code < 0) explain(reason, size, "logind grants no lock", code, &error);
    library.free_error(&error);
    library.unref(reply);
    return lock;
}

uint64_t smartplug_logind_longest_delay(smartplug_logind *link) {
    uint64_t delay = 0;
    int code = library.property(link->bus, name, path, manager, "InhibitDelayMaxUSec", NULL, 't', &delay);
    return code < 0 ? 0 : delay;
}

/// Returns the time in milliseconds until the library wants to be called, -1 for never.
static int milliseconds(sd_bus *bus) {
    uint64_t until = UINT64_MAX;
    if (library.timeout(bus, &until) < 0 || until == UINT64_MAX) return -1;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    uint64_t now = (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
    if (until <= now) return 0;
    uint64_t left = (until - now + 999) / 1000;
    return left > INT_MAX ? INT_MAX : (int)left;
}

smartplug_logind_signal smartplug_logind_wait(smartplug_logind *link, int interruption, char *reason, size_t size) {
    for (;;) {
        int code;
        while ((code = library.process(link->bus, NULL)) > 0) {}
        if (link->count > 0) {
            bool begins = link->unread[0];
            link->count--;
            memmove(link->unread, link->unread + 1, link->count * sizeof *link->unread);
            return begins ? smartplug_logind_suspending : smartplug_logind_awake;
        }
        int events = code < 0 ? code : library.events(link->bus);
        if (events < 0) {
            explain(reason, size, "the connection to the system bus is lost", events, NULL);
            return smartplug_logind_lost;
        }
        struct pollfd polled[] = {
            {.fd = library.descriptor(link->bus), .events = (short)events},
            {.fd = interruption, .events = POLLIN},
        };
        if (poll(polled, 2, milliseconds(link->bus)) < 0 && errno != EINTR) {
            explain(reason, size, "cannot wait for the system bus", -errno, NULL);
            return smartplug_logind_lost;
        }
        if (polled[1].revents) return smartplug_logind_interrupted;
    }
}

void smartplug_logind_close(smartplug_logind *link) {
    if (!link) return;
    library.close(link->bus);
    free(link);
}
