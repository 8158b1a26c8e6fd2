#define _GNU_SOURCE
#include "postgresql_link.h"
#include "library_loader.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Declarations of the parts of libpq that this file uses, from the documentation of libpq. So the build needs no
// headers, and the program starts without libpq.
typedef struct pg_conn connection;
typedef struct pg_result result;

enum { connection_bad = 1 };
enum { polling_failed = 0, polling_reading = 1, polling_writing = 2, polling_ok = 3 };
enum { empty_query = 0, command_ok = 1, tuples_ok = 2, copy_in = 4 };
enum { field_message = 'M', field_sqlstate = 'C' };

static struct {
    connection *(*start)(const char *const *, const char *const *, int);
    int (*poll_connection)(connection *);
    int (*status)(const connection *);
    int (*socket)(const connection *);
    void (*finish)(connection *);
    char *(*error)(const connection *);
    int (*set_nonblocking)(connection *, int);
    int (*send)(connection *, const char *);
    int (*send_params)(
        connection *, const char *, int, const unsigned *, const char *const *, const int *, const int *, int);
    int (*flush)(connection *);
    int (*consume)(connection *);
    int (*is_busy)(connection *);
    result *(*next)(connection *);
    int (*result_status)(const result *);
    char *(*result_error)(const result *);
    char *(*result_field)(const result *, int);
    int (*rows)(const result *);
    int (*columns)(const result *);
    char *(*value)(const result *, int, int);
    int (*length)(const result *, int, int);
    int (*is_null)(const result *, int, int);
    void (*clear)(result *);
    int (*copy)(connection *, const char *, int);
    int (*copy_end)(connection *, const char *);
    void *(*set_notice)(connection *, void (*)(void *, const result *), void *);
} library;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char missing[200];

static void load(void) {
    const smartplug_function functions[] = {
        {"PQconnectStartParams", &library.start},
        {"PQconnectPoll", &library.poll_connection},
        {"PQstatus", &library.status},
        {"PQsocket", &library.socket},
        {"PQfinish", &library.finish},
        {"PQerrorMessage", &library.error},
        {"PQsetnonblocking", &library.set_nonblocking},
        {"PQsendQuery", &library.send},
        {"PQsendQueryParams", &library.send_params},
        {"PQflush", &library.flush},
        {"PQconsumeInput", &library.consume},
        {"PQisBusy", &library.is_busy},
        {"PQgetResult", &library.next},
        {"PQresultStatus", &library.result_status},
        {"PQresultErrorMessage", &library.result_error},
        {"PQresultErrorField", &library.result_field},
        {"PQntuples", &library.rows},
        {"PQnfields", &library.columns},
        {"PQgetvalue", &library.value},
        {"PQgetlength", &library.length},
        {"PQgetisnull", &library.is_null},
        {"PQclear", &library.clear},
        {"PQputCopyData", &library.copy},
        {"PQputCopyEnd", &library.copy_end},
        {"PQsetNoticeReceiver", &library.set_notice},
    };
    smartplug_load("libpq.so.5", functions, sizeof functions / sizeof *functions, missing, sizeof missing);
}

struct smartplug_pg {
    connection *connection;
    atomic_bool gives_up;
};

static void say(smartplug_pg_fault *fault, const char *text) {
    size_t length = strcspn(text, "\r\n");
    snprintf(fault->text, sizeof fault->text, "%.*s", (int)(length < 390 ? length : 390), text);
    fault->state[0] = 0;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/// Waits for the socket in steps of at most 100 ms, so that `smartplug_pg_give_up` takes effect soon.
static bool waits(smartplug_pg *link, short events, int64_t until, smartplug_pg_fault *fault) {
    for (;;) {
        if (atomic_load(&link->gives_up)) {
            say(fault, "the request was cancelled");
            return false;
        }
        int64_t left = until - now();
        if (left <= 0) {
            say(fault, "the server did not answer in time");
            return false;
        }
        struct pollfd wanted = {.fd = library.socket(link->connection), .events = events};
        if (wanted.fd < 0) {
            say(fault, "the connection has ended");
            return false;
        }
        int ready = poll(&wanted, 1, left < 100 ? (int)left : 100);
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) {
            say(fault, strerror(errno));
            return false;
        }
    }
}

static void ignore(void *context, const result *notice) { (void)context, (void)notice; }

smartplug_pg *smartplug_pg_new(void) { return calloc(1, sizeof(smartplug_pg)); }

void smartplug_pg_give_up(smartplug_pg *link) { atomic_store(&link->gives_up, true); }

int smartplug_pg_connect(
    smartplug_pg *link, const char *const *keywords, const char *const *values, int patience, smartplug_pg_fault *fault) {
    pthread_once(&once, load);
    if (missing[0]) {
        say(fault, missing);
        return -1;
    }
    link->connection = library.start(keywords, values, 0);
    if (!link->connection) {
        say(fault, strerror(ENOMEM));
        return -1;
    }
    int64_t until = now() + patience;
    // libpq's documentation: before the first call of PQconnectPoll, wait as if it had returned PGRES_POLLING_WRITING.
    int state = library.status(link->connection) == connection_bad ? polling_failed : polling_writing;
    while (state == polling_reading || state == polling_writing) {
        if (!waits(link, state == polling_reading ? POLLIN : POLLOUT, until, fault)) return -1;
        state = library.poll_connection(link->connection);
    }
    if (state != polling_ok || library.set_nonblocking(link->connection, 1)) {
        say(fault, library.error(link->connection));
        return -1;
    }
    library.set_notice(link->connection, ignore, NULL);
    return 0;
}

/// Sends the queued data.
static bool flushes(smartplug_pg *link, int64_t until, smartplug_pg_fault *fault) {
    for (;;) {
        int left = library.flush(link->connection);
        if (!left) return true;
        if (left < 0) {
            say(fault, library.error(link->connection));
            return false;
        }
        // Reads the server's data as well. Otherwise a server that sends at the same time and this client would wait
        // for each other.
        if (!waits(link, POLLIN | POLLOUT, until, fault)) return false;
        if (!library.consume(link->connection)) {
            say(fault, library.error(link->connection));
            return false;
        }
    }
}

/// Returns the last result after all results have arrived, or after a COPY ... FROM STDIN has begun; NULL if a result
/// is an error or if no result arrived in time.
static result *answer(smartplug_pg *link, int64_t until, smartplug_pg_fault *fault) {
    if (!flushes(link, until, fault)) return NULL;
    result *last = NULL;
    bool has_failed = false;
    for (;;) {
        while (library.is_busy(link->connection)) {
            if (waits(link, POLLIN, until, fault) && library.consume(link->connection)) continue;
            if (!*fault->text) say(fault, library.error(link->connection));
            if (last) library.clear(last);
            return NULL;
        }
        result *one = library.next(link->connection);
        if (!one) break;
        if (last) library.clear(last);
        last = one;
        int status = library.result_status(one);
        if (status == copy_in) break;
        if (status == command_ok || status == tuples_ok || status == empty_query || has_failed) continue;
        has_failed = true;
        const char *text = library.result_field(one, field_message), *state = library.result_field(one, field_sqlstate);
        say(fault, text ? text : library.result_error(one));
        if (state) snprintf(fault->state, sizeof fault->state, "%s", state);
    }
    if (!last) say(fault, "the server sent no answer");
    if (last && has_failed) {
        library.clear(last);
        last = NULL;
    }
    return last;
}

smartplug_pg_rows *smartplug_pg_run(
    smartplug_pg *link, const char *sql, const char *const *values, int count, int patience, smartplug_pg_fault *fault) {
    int64_t until = now() + patience;
    *fault = (smartplug_pg_fault){0};
    if (!link->connection) {
        say(fault, "not connected to the server");
        return NULL;
    }
    int sent = count ? library.send_params(link->connection, sql, count, NULL, values, NULL, NULL, 0)
                     : library.send(link->connection, sql);
    if (!sent) {
        say(fault, library.error(link->connection));
        return NULL;
    }
    return (smartplug_pg_rows *)answer(link, until, fault);
}

int smartplug_pg_row_count(const smartplug_pg_rows *rows) { return library.rows((const result *)rows); }
int smartplug_pg_column_count(const smartplug_pg_rows *rows) { return library.columns((const result *)rows); }

const char *smartplug_pg_value(const smartplug_pg_rows *rows, int row, int column, size_t *length) {
    const result *all = (const result *)rows;
    if (library.is_null(all, row, column)) return NULL;
    *length = (size_t)library.length(all, row, column);
    return library.value(all, row, column);
}

void smartplug_pg_rows_free(smartplug_pg_rows *rows) { library.clear((result *)rows); }

int smartplug_pg_copy(smartplug_pg *link, const char *bytes, size_t length, int patience, smartplug_pg_fault *fault) {
    int64_t until = now() + patience;
    const size_t piece = 1 << 16;
    while (length) {
        size_t size = length < piece ? length : piece;
        int taken = library.copy(link->connection, bytes, (int)size);
        if (taken < 0) {
            say(fault, library.error(link->connection));
            return -1;
        }
        if (!flushes(link, until, fault)) return -1;
        if (!taken) continue;
        bytes += size;
        length -= size;
    }
    return 0;
}

int smartplug_pg_copy_end(smartplug_pg *link, int patience, smartplug_pg_fault *fault) {
    int64_t until = now() + patience;
    *fault = (smartplug_pg_fault){0};
    int taken;
    while (!(taken = library.copy_end(link->connection, NULL))) {
        if (!flushes(link, until, fault)) return -1;
    }
    if (taken < 0) {
        say(fault, library.error(link->connection));
        return -1;
    }
    result *last = answer(link, until, fault);
    if (!last) return -1;
    library.clear(last);
    return 0;
}

void smartplug_pg_free(smartplug_pg *link) {
    if (link->connection) library.finish(link->connection);
    free(link);
}
