// mosquitto_stream PORT COUNT SIZE: one client publishes to a topic that it has subscribed to, at QoS 1, with `window`
// messages in flight. Prints the messages per second, from the first published to the last received.
#include <mosquitto.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// Of windows between 20 and 3000 messages, those of 100 and 1000 messages were the fastest.
enum { window = 1000 };

static int count, size, published, received;
static char payload[1024];

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void check(int result, const char *what) {
    if (result == MOSQ_ERR_SUCCESS) return;
    fprintf(stderr, "%s: %s\n", what, mosquitto_strerror(result));
    exit(1);
}

static void publish_next(struct mosquitto *client) {
    if (published == count) return;
    published++;
    check(mosquitto_publish(client, NULL, "plug/event", size, payload, 1, false), "publish");
}

static void on_subscribe(struct mosquitto *client, void *state, int id, int granted, const int *levels) {
    *(double *)state = seconds();
    for (int i = 0; i < window; i++) publish_next(client);
}

static void on_message(struct mosquitto *client, void *state, const struct mosquitto_message *message) {
    received++;
    publish_next(client);
}

int main(int arguments, char **values) {
    if (arguments != 4) return 64;
    int port = atoi(values[1]);
    count = atoi(values[2]);
    size = atoi(values[3]);
    double began = 0;
    mosquitto_lib_init();
    struct mosquitto *client = mosquitto_new(NULL, true, &began);
    mosquitto_int_option(client, MOSQ_OPT_SEND_MAXIMUM, 65535);
    mosquitto_int_option(client, MOSQ_OPT_RECEIVE_MAXIMUM, 65535);
    mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1);
    mosquitto_max_inflight_messages_set(client, 0);
    mosquitto_subscribe_callback_set(client, on_subscribe);
    mosquitto_message_callback_set(client, on_message);
    // The broker may still be starting.
    for (int tries = 100; mosquitto_connect(client, "127.0.0.1", port, 60) != MOSQ_ERR_SUCCESS; tries--) {
        if (tries == 0) check(MOSQ_ERR_NO_CONN, "connect");
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    check(mosquitto_subscribe(client, NULL, "plug/event", 1), "subscribe");
    while (received < count) check(mosquitto_loop(client, 1000, 1), "loop");
    printf("%.0f\n", count / (seconds() - began));
}
