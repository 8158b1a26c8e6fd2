#pragma once
#include <stddef.h>
#include <stdint.h>

/// A connection to an MQTT 5 broker by libmosquitto (1.6 and later), which is loaded when the first is opened.
typedef struct smartplug_mqtt smartplug_mqtt;

/// Text that is not there is NULL. All of it is copied.
typedef struct {
    const char *host;
    int port;
    const char *client;
    const char *user;
    const char *password;
    /// Certificates that vouch for the broker: a PEM file, or a directory as OpenSSL has them. Both NULL: no TLS.
    const char *authority_file;
    const char *authority_directory;
    /// Of the client, in PEM files.
    const char *certificate;
    const char *key;
    /// Retained; published by the broker when the connection ends in any way. No topic: no will.
    const char *will_topic;
    const char *will_text;
    /// Seconds that the broker keeps the session after the connection.
    uint32_t session;
    /// Bytes of the largest packet that the broker may send.
    uint32_t largest_packet;
    /// Messages that the broker may send before they are taken.
    uint16_t receive_maximum;
    /// Seconds without a packet after which one is sent to see whether the broker is there.
    int keep_alive;
    /// Seconds that connecting may take.
    int patience;
} smartplug_mqtt_settings;

typedef struct {
    const char *topic;
    const unsigned char *payload;
    size_t length;
    int is_retained;
    /// NULL where there is none.
    const char *response_topic;
    const unsigned char *correlation;
    size_t correlation_length;
    /// Seconds; -1 where the message does not expire.
    int64_t expiry;
} smartplug_mqtt_message;

/// Called by the thread that runs the connection.
typedef struct {
    void *context;
    void (*connected)(void *context);
    /// The broker answered a message; `refusal` is NULL where it took it.
    void (*acknowledged)(void *context, int message, const char *refusal);
    /// The broker answered a subscription; 0: with an error.
    void (*subscribed)(void *context, int is_granted);
    void (*received)(void *context, const smartplug_mqtt_message *message);
} smartplug_mqtt_ears;

/// Loads the library. NULL, or text that says why it cannot be.
const char *smartplug_mqtt_load(void);

/// Makes a connection that is not open yet. NULL: it failed, and `error` has text that says why.
smartplug_mqtt *smartplug_mqtt_new(
    const smartplug_mqtt_settings *settings, smartplug_mqtt_ears ears, char *error, size_t error_size);

/// Opens the connection and returns when it has ended, or could not be opened; `reason` gets text that says why. Called once.
///
/// Returns 1 where the broker ended it because another connection has the session now (MQTT 5, section 3.1.4), else 0.
int smartplug_mqtt_run(smartplug_mqtt *link, char *reason, size_t reason_size);

/// Publishes with QoS 1. Any thread may call it while the connection runs. `number` gets a number for `acknowledged`.
///
/// Returns 0, or -1 where there is no connection or no memory.
int smartplug_mqtt_publish(smartplug_mqtt *link, int *number, const smartplug_mqtt_message *message);

/// Subscribes with QoS 1, without the messages that the broker has retained already (MQTT 5, section 3.8.3.1). Returns 0 or -1.
int smartplug_mqtt_subscribe(smartplug_mqtt *link, const char *filter);

/// Ends the connection; the broker publishes the will. Any thread may call it. `run` returns soon after.
void smartplug_mqtt_end(smartplug_mqtt *link);

/// After `run` has returned, or where it was never called.
void smartplug_mqtt_free(smartplug_mqtt *link);
