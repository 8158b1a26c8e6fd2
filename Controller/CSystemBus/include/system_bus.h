#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A connection to logind over the system bus by libsystemd, which the first connection loads. One thread at a time may
/// use it. Functions that fail write the reason as text into `reason`, which has room for `size` bytes.
typedef struct smartplug_logind smartplug_logind;

/// The results of `smartplug_logind_wait`.
typedef enum {
    smartplug_logind_lost = -1,
    smartplug_logind_awake = 0,
    smartplug_logind_suspending = 1,
    smartplug_logind_interrupted = 2,
} smartplug_logind_signal;

/// Connects, and subscribes to the signal PrepareForSleep. Returns NULL on failure.
smartplug_logind *smartplug_logind_open(char *reason, size_t size);

/// Takes a lock that delays each suspend until it is closed, or until logind's time limit. Returns its descriptor
/// (close-on-exec), or -1 on failure.
int smartplug_logind_inhibit(smartplug_logind *link, const char *who, const char *why, char *reason, size_t size);

/// Returns the time in microseconds for which a lock delays a suspend, or 0 if logind does not report it.
uint64_t smartplug_logind_longest_delay(smartplug_logind *link);

/// Waits for the next signal, or until the descriptor `interruption` is readable.
smartplug_logind_signal smartplug_logind_wait(smartplug_logind *link, int interruption, char *reason, size_t size);

/// Closes the connection. A lock stays until its descriptor is closed.
void smartplug_logind_close(smartplug_logind *link);
