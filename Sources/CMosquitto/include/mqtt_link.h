#pragma once
#include <stddef.h>
#include <stdint.h>

/// A connection to an MQTT 5 broker by libmosquitto (1.6 and later). The library is loaded when the first connection is
/// created.
typedef struct smartplug_mqtt smartplug_mqtt;

/// The settings of a connection. Missing texts are NULL. All texts are copied.
typedef struct {
    const char *host;
    int port;
    const char *client;
    const char *user;
    const char *password;
    /// The certificates that are trusted: a PEM file, or a directory in OpenSSL's format. Without TLS both are NULL.
    const char *authority_file;
    const char *authority_directory;
    /// The client's certificate and key, in PEM files.
    const char *certificate;
    const char *key;
    /// The last will: a retained message that the broker publishes when the connection ends for any reason. If
    /// `will_topic` is NULL, the connection has no will.
    const char *will_topic;
    const char *will_text;
    /// The time in seconds that the broker keeps the session after the end of the connection.
    uint32_t session;
    /// The maximum size in bytes of a packet from the broker.
    uint32_t largest_packet;
    /// The maximum number of unacknowledged messages from the broker.
    uint16_t receive_maximum;
    /// The idle time in seconds after which the client sends a ping to the broker.
    int keep_alive;
    /// The time limit in seconds for connecting.
    int patience;
} smartplug_mqtt_settings;

/// A received or published message.
typedef struct {
    const char *topic;
    const unsigned char *payload;
    size_t length;
    int is_retained;
    /// The topic for an answer, or NULL.
    const char *response_topic;
    const unsigned char *correlation;
    size_t correlation_length;
    /// The time in seconds until the message expires, or -1 if it does not expire.
    int64_t expiry;
} smartplug_mqtt_message;

/// The callbacks of a connection. The thread that runs the connection calls them.
typedef struct {
    void *context;
    void (*connected)(void *context);
    /// The broker acknowledged a message. `refusal` is NULL if the broker accepted it.
    void (*acknowledged)(void *context, int message, const char *refusal);
    /// The broker answered a subscription. `is_granted` is 0 if it refused.
    void (*subscribed)(void *context, int is_granted);
    void (*received)(void *context, const smartplug_mqtt_message *message);
} smartplug_mqtt_ears;

/// Loads the library. Returns NULL, or the reason of the failure as text.
const char *smartplug_mqtt_load(void);

/// Creates a connection that is not open yet. Returns NULL on failure, with the reason in `error`.
smartplug_mqtt *smartplug_mqtt_new(
    const smartplug_mqtt_settings *settings, smartplug_mqtt_ears ears, char *error, size_t error_size);

/// Opens the connection and blocks until it has ended or could not be opened; `reason` receives the cause as text. Must
/// be called only once.
///
/// Returns 1 if the broker ended the connection because another connection took over the session (MQTT 5 section
/// 3.1.4), else 0.
int smartplug_mqtt_run(smartplug_mqtt *link, char *reason, size_t reason_size);

/// Publishes a message with QoS 1. Any thread may call it while the connection runs. `number` receives the number that
/// is passed to `acknowledged`.
///
/// Returns 0, or -1 if the connection is not open, the message is too large, or memory is missing.
int smartplug_mqtt_publish(smartplug_mqtt *link, int *number, const smartplug_mqtt_message *message);

/// Subscribes with QoS 1, without messages that are already retained (MQTT 5 section 3.8.3.1). Returns 0, or -1 on
/// failure.
int smartplug_mqtt_subscribe(smartplug_mqtt *link, const char *filter);

/// Ends the connection so that the broker publishes the will. Any thread may call it. `run` returns soon after.
void smartplug_mqtt_end(smartplug_mqtt *link);

/// Frees a connection after `run` has returned or if it was never called.
void smartplug_mqtt_free(smartplug_mqtt *link);
