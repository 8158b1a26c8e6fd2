#define _GNU_SOURCE
#include "mqtt_link.h"
#include "library_loader.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// The declarations of the library, from its documentation. The build needs no header of the library, and the program
// also starts if the library is not installed.
struct mosquitto;
typedef struct mqtt5__property property;
struct mosquitto_message {
    int mid;
    char *topic;
    void *payload;
    int payloadlen;
    int qos;
    bool retain;
};

enum { option_protocol = 1, option_receive_maximum = 4, option_no_delay = 11 };
enum { protocol_5 = 5, will_too = 4, no_old_and_as_published = 0x28, verify_peer = 1 };
enum { error_no_connection = 4, error_errno = 14 };
enum {
    of_expiry = 2,
    of_response_topic = 8,
    of_correlation = 9,
    of_session_expiry = 17,
    of_largest_packet = 39,
};
enum { reason_is_error = 0x80, session_taken_over = 0x8E };

static struct {
    int (*init)(void);
    struct mosquitto *(*new)(const char *, bool, void *);
    void (*destroy)(struct mosquitto *);
    int (*int_option)(struct mosquitto *, int, int);
    int (*threaded)(struct mosquitto *, bool);
    int (*password)(struct mosquitto *, const char *, const char *);
    int (*tls)(struct mosquitto *, const char *, const char *, const char *, const char *, int (*)(char *, int, int, void *));
    int (*tls_options)(struct mosquitto *, int, const char *, const char *);
    int (*will)(struct mosquitto *, const char *, int, const void *, int, bool, property *);
    int (*connect)(struct mosquitto *, const char *, int, int, const char *, const property *);
    int (*disconnect)(struct mosquitto *, int, const property *);
    int (*socket)(struct mosquitto *);
    bool (*want_write)(struct mosquitto *);
    int (*loop_read)(struct mosquitto *, int);
    int (*loop_write)(struct mosquitto *, int);
    int (*loop_misc)(struct mosquitto *);
    int (*publish)(struct mosquitto *, int *, const char *, int, const void *, int, bool, const property *);
    int (*subscribe)(struct mosquitto *, int *, const char *, int, int, const property *);
    void (*on_connect)(struct mosquitto *, void (*)(struct mosquitto *, void *, int, int, const property *));
    void (*on_publish)(struct mosquitto *, void (*)(struct mosquitto *, void *, int, int, const property *));
    void (*on_subscribe)(struct mosquitto *, void (*)(struct mosquitto *, void *, int, int, const int *, const property *));
    void (*on_message)(
        struct mosquitto *, void (*)(struct mosquitto *, void *, const struct mosquitto_message *, const property *));
    const char *(*error_text)(int);
    const char *(*reason_text)(int);
    void (*on_disconnect)(struct mosquitto *, void (*)(struct mosquitto *, void *, int, const property *));
    int (*add_int32)(property **, int, uint32_t);
    int (*add_binary)(property **, int, const void *, uint16_t);
    int (*add_string)(property **, int, const char *);
    const property *(*read_int32)(const property *, int, uint32_t *, bool);
    const property *(*read_binary)(const property *, int, void **, uint16_t *, bool);
    const property *(*read_string)(const property *, int, char **, bool);
    void (*free_properties)(property **);
} library;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char missing[200];

static void load(void) {
    const smartplug_function functions[] = {
        {"mosquitto_lib_init", &library.init},
        {"mosquitto_new", &library.new},
        {"mosquitto_destroy", &library.destroy},
        {"mosquitto_int_option", &library.int_option},
        {"mosquitto_threaded_set", &library.threaded},
        {"mosquitto_username_pw_set", &library.password},
        {"mosquitto_tls_set", &library.tls},
        {"mosquitto_tls_opts_set", &library.tls_options},
        {"mosquitto_will_set_v5", &library.will},
        {"mosquitto_connect_bind_v5", &library.connect},
        {"mosquitto_disconnect_v5", &library.disconnect},
        {"mosquitto_socket", &library.socket},
        {"mosquitto_want_write", &library.want_write},
        {"mosquitto_loop_read", &library.loop_read},
        {"mosquitto_loop_write", &library.loop_write},
        {"mosquitto_loop_misc", &library.loop_misc},
        {"mosquitto_publish_v5", &library.publish},
        {"mosquitto_subscribe_v5", &library.subscribe},
        {"mosquitto_connect_v5_callback_set", &library.on_connect},
        {"mosquitto_publish_v5_callback_set", &library.on_publish},
        {"mosquitto_subscribe_v5_callback_set", &library.on_subscribe},
        {"mosquitto_message_v5_callback_set", &library.on_message},
        {"mosquitto_strerror", &library.error_text},
        {"mosquitto_reason_string", &library.reason_text},
        {"mosquitto_disconnect_v5_callback_set", &library.on_disconnect},
        {"mosquitto_property_add_int32", &library.add_int32},
        {"mosquitto_property_add_binary", &library.add_binary},
        {"mosquitto_property_add_string", &library.add_string},
        {"mosquitto_property_read_int32", &library.read_int32},
        {"mosquitto_property_read_binary", &library.read_binary},
        {"mosquitto_property_read_string", &library.read_string},
        {"mosquitto_property_free_all", &library.free_properties},
    };
    if (smartplug_load("libmosquitto.so.1", functions, sizeof functions / sizeof *functions, missing, sizeof missing)) library.init();
}

struct smartplug_mqtt {
    struct mosquitto *client;
    smartplug_mqtt_ears ears;
    /// The eventfd(2) that wakes the thread of the connection.
    int wake;
    /// Held while a thread reads or writes, because OpenSSL allows only one thread at a time to use a connection.
    pthread_mutex_t access;
    char *host;
    int port;
    int keep_alive;
    int patience;
    uint32_t session;
    uint32_t largest_packet;
    bool is_connected;
    /// The broker's reason code if it rejected the connection.
    int refusal;
    bool is_taken_over;
    atomic_bool has_ended;
};

static void connected(struct mosquitto *client, void *context, int reason, int flags, const property *properties) {
    (void)client, (void)flags, (void)properties;
    smartplug_mqtt *link = context;
    link->refusal = reason;
    if (reason) return;
    link->is_connected = true;
    link->ears.connected(link->ears.context);
}

static void disconnected(struct mosquitto *client, void *context, int reason, const property *properties) {
    (void)client, (void)properties;
    smartplug_mqtt *link = context;
    if (reason == session_taken_over) link->is_taken_over = true;
}

static void published(struct mosquitto *client, void *context, int message, int reason, const property *properties) {
    (void)client, (void)properties;
    smartplug_mqtt *link = context;
    link->ears.acknowledged(link->ears.context, message, reason >= reason_is_error ? library.reason_text(reason) : NULL);
}

static void subscribed(
    struct mosquitto *client, void *context, int message, int count, const int *granted, const property *properties) {
    (void)client, (void)message, (void)properties;
    smartplug_mqtt *link = context;
    for (int index = 0; index < count; index++) {
        link->ears.subscribed(link->ears.context, granted[index] < reason_is_error);
    }
}

static void received(
    struct mosquitto *client, void *context, const struct mosquitto_message *message, const property *properties) {
    (void)client;
    smartplug_mqtt *link = context;
    char *response = NULL;
    void *correlation = NULL;
    uint16_t length = 0;
    uint32_t expiry = 0;
    library.read_string(properties, of_response_topic, &response, false);
    library.read_binary(properties, of_correlation, &correlation, &length, false);
    bool expires = library.read_int32(properties, of_expiry, &expiry, false) != NULL;
    smartplug_mqtt_message heard = {
        .topic = message->topic,
        .payload = message->payload,
        .length = message->payloadlen > 0 ? (size_t)message->payloadlen : 0,
        .is_retained = message->retain,
        .response_topic = response,
        .correlation = correlation,
        .correlation_length = length,
        .expiry = expires ? (int64_t)expiry : -1,
    };
    link->ears.received(link->ears.context, &heard);
    free(response);
    free(correlation);
}

static void explain(int code, char *text, size_t size) {
    snprintf(text, size, "%s", code == error_errno ? strerror(errno) : library.error_text(code));
}

const char *smartplug_mqtt_load(void) {
    pthread_once(&once, load);
    return missing[0] ? missing : NULL;
}

smartplug_mqtt *smartplug_mqtt_new(
    const smartplug_mqtt_settings *settings, smartplug_mqtt_ears ears, char *error, size_t error_size) {
    if (smartplug_mqtt_load()) {
        snprintf(error, error_size, "cannot load libmosquitto: %s", missing);
        return NULL;
    }
    smartplug_mqtt *link = calloc(1, sizeof *link);
    if (!link) {
        snprintf(error, error_size, "%s", strerror(ENOMEM));
        return NULL;
    }
    *link = (smartplug_mqtt){
        .ears = ears,
        .wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
        .host = strdup(settings->host),
        .port = settings->port,
        .keep_alive = settings->keep_alive,
        .patience = settings->patience,
        .session = settings->session,
        .largest_packet = settings->largest_packet,
        .access = PTHREAD_MUTEX_INITIALIZER,
    };
    link->client = library.new(settings->client, false, link);
    if (!link->client || !link->host || link->wake < 0) {
        snprintf(error, error_size, "%s", strerror(errno));
        smartplug_mqtt_free(link);
        return NULL;
    }
    int code = library.int_option(link->client, option_protocol, protocol_5);
    if (!code) code = library.int_option(link->client, option_no_delay, 1);
    if (!code) code = library.int_option(link->client, option_receive_maximum, settings->receive_maximum);
    if (!code) code = library.threaded(link->client, true);
    if (!code && settings->user) code = library.password(link->client, settings->user, settings->password);
    if (!code && (settings->authority_file || settings->authority_directory)) {
        code = library.tls(
            link->client, settings->authority_file, settings->authority_directory, settings->certificate, settings->key,
            NULL);
        if (!code) code = library.tls_options(link->client, verify_peer, NULL, NULL);
    }
    if (!code && settings->will_topic) {
        const char *text = settings->will_text;
        code = library.will(link->client, settings->will_topic, (int)strlen(text), text, 1, true, NULL);
    }
    if (code) {
        explain(code, error, error_size);
        smartplug_mqtt_free(link);
        return NULL;
    }
    library.on_connect(link->client, connected);
    library.on_disconnect(link->client, disconnected);
    library.on_publish(link->client, published);
    library.on_subscribe(link->client, subscribed);
    library.on_message(link->client, received);
    return link;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/// Returns true if the server accepts a TCP connection before `until`, a time of `now()` in milliseconds. The preceding
/// name lookup has only the resolver's own time limit. libmosquitto itself waits for the kernel's timeout of two
/// minutes, which cannot be interrupted.
static bool is_reachable(const smartplug_mqtt *link, int64_t until, char *reason, size_t size) {
    char port[8];
    snprintf(port, sizeof port, "%d", link->port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all = NULL;
    int code = getaddrinfo(link->host, port, &hints, &all);
    if (code) {
        snprintf(reason, size, "%s", gai_strerror(code));
        return false;
    }
    bool found = false;
    snprintf(reason, size, "%s", strerror(ETIMEDOUT));
    for (struct addrinfo *one = all; one && !found && now() < until; one = one->ai_next) {
        int probe = socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, one->ai_protocol);
        if (probe < 0) continue;
        int error = connect(probe, one->ai_addr, one->ai_addrlen) ? errno : 0;
        if (error == EINPROGRESS) {
            struct pollfd writable = {.fd = probe, .events = POLLOUT};
            int64_t left = until - now();
            error = ETIMEDOUT;
            socklen_t length = sizeof error;
            if (poll(&writable, 1, left > 0 ? (int)left : 0) == 1) getsockopt(probe, SOL_SOCKET, SO_ERROR, &error, &length);
        }
        found = !error;
        if (error) snprintf(reason, size, "%s", strerror(error));
        close(probe);
    }
    freeaddrinfo(all);
    return found;
}

static void wake(smartplug_mqtt *link) {
    uint64_t once_more = 1;
    // The write fails only if the counter is at its maximum. The thread then wakes up anyway.
    if (write(link->wake, &once_more, sizeof once_more) < 0) return;
}

/// Waits up to `milliseconds` for input or a wake-up, and handles both. libmosquitto's own loop uses select(), which
/// supports no descriptor above 1023; a daemon with a thousand plugs exceeds that.
static int turn(smartplug_mqtt *link, int milliseconds) {
    int descriptor = library.socket(link->client);
    if (descriptor < 0) return error_no_connection;
    struct pollfd places[] = {
        {.fd = descriptor, .events = library.want_write(link->client) ? POLLIN | POLLOUT : POLLIN},
        {.fd = link->wake, .events = POLLIN},
    };
    if (poll(places, 2, milliseconds) < 0 && errno != EINTR) return error_errno;
    uint64_t count;
    if (places[1].revents && read(link->wake, &count, sizeof count) < 0) return error_errno;
    pthread_mutex_lock(&link->access);
    int code = places[0].revents & ~POLLOUT ? library.loop_read(link->client, 1) : 0;
    if (!code && library.want_write(link->client)) code = library.loop_write(link->client, 1);
    if (!code) code = library.loop_misc(link->client);
    pthread_mutex_unlock(&link->access);
    return code;
}

int smartplug_mqtt_run(smartplug_mqtt *link, char *reason, size_t reason_size) {
    int64_t until = now() + link->patience * 1000;
    if (!is_reachable(link, until, reason, reason_size)) return 0;
    property *properties = NULL;
    int code = library.add_int32(&properties, of_session_expiry, link->session);
    if (!code) code = library.add_int32(&properties, of_largest_packet, link->largest_packet);
    if (!code) code = library.connect(link->client, link->host, link->port, link->keep_alive, NULL, properties);
    library.free_properties(&properties);
    while (!code && !atomic_load(&link->has_ended)) {
        code = turn(link, 250);
        if (!code && !link->is_connected && now() > until) {
            snprintf(reason, reason_size, "the broker did not answer in time");
            return 0;
        }
    }
    // The DISCONNECT packet may still be unsent.
    if (!code) turn(link, 50);
    if (link->is_taken_over) {
        snprintf(reason, reason_size, "another connection took the session over");
    } else if (link->refusal) {
        snprintf(reason, reason_size, "%s", library.reason_text(link->refusal));
    } else if (code) {
        explain(code, reason, reason_size);
    } else {
        snprintf(reason, reason_size, "this program ended the connection");
    }
    return link->is_taken_over;
}

static int add_properties(property **properties, const smartplug_mqtt_message *message) {
    int code = 0;
    if (message->correlation_length) {
        code = library.add_binary(
            properties, of_correlation, message->correlation, (uint16_t)message->correlation_length);
    }
    if (!code && message->response_topic) {
        code = library.add_string(properties, of_response_topic, message->response_topic);
    }
    if (!code && message->expiry >= 0) code = library.add_int32(properties, of_expiry, (uint32_t)message->expiry);
    return code;
}

/// Writes the waiting packets, which saves waking the thread of the connection. That thread writes what remains, and
/// reports the end of the connection.
static void write_now(smartplug_mqtt *link) {
    pthread_mutex_lock(&link->access);
    bool is_done = link->is_connected && !library.loop_write(link->client, 1) && !library.want_write(link->client);
    pthread_mutex_unlock(&link->access);
    if (!is_done) wake(link);
}

int smartplug_mqtt_publish(smartplug_mqtt *link, int *number, const smartplug_mqtt_message *message) {
    property *properties = NULL;
    if (message->correlation_length > UINT16_MAX || message->length > INT32_MAX || message->expiry > UINT32_MAX) return -1;
    int code = add_properties(&properties, message);
    if (!code) {
        code = library.publish(
            link->client, number, message->topic, (int)message->length, message->payload, 1, message->is_retained,
            properties);
    }
    if (properties) library.free_properties(&properties);
    if (!code) write_now(link);
    return code ? -1 : 0;
}

int smartplug_mqtt_subscribe(smartplug_mqtt *link, const char *filter) {
    int code = library.subscribe(link->client, NULL, filter, 1, no_old_and_as_published, NULL);
    wake(link);
    return code ? -1 : 0;
}

void smartplug_mqtt_end(smartplug_mqtt *link) {
    if (atomic_exchange(&link->has_ended, true)) return;
    library.disconnect(link->client, will_too, NULL);
    wake(link);
}

void smartplug_mqtt_free(smartplug_mqtt *link) {
    if (link->client) library.destroy(link->client);
    if (link->wake >= 0) close(link->wake);
    pthread_mutex_destroy(&link->access);
    free(link->host);
    free(link);
}
