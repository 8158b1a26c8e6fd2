#ifndef DESKTOP_NOTIFICATION_H
#define DESKTOP_NOTIFICATION_H

#include <stddef.h>

/// The result of a notification.
enum desktop_result {
    desktop_shown = 0,
    /// libsystemd is not installed, or lacks a function; `message` is the loader's error.
    desktop_missing = 1,
    /// The session bus or the notification server is not available, or the server refused; `message` has the reason.
    desktop_failed = 2,
    /// No answer came in time.
    desktop_late = 3,
    /// The descriptor `interruption` became readable before the answer came.
    desktop_interrupted = 4,
};

/// All texts are UTF-8.
struct desktop_notification {
    const char *summary;
    const char *body;
    /// The body for servers that interpret markup.
    const char *marked_up_body;
    /// 0 low, 1 normal, 2 critical
    unsigned char urgency;
};

/// Shows the notification on the desktop session of this user (Desktop Notifications Specification 1.2), and waits for
/// the answer until `milliseconds` have passed or the descriptor `interruption` is readable. If the result is
/// `desktop_missing` or `desktop_failed`, `message` gets a zero-terminated text with the reason.
///
/// libsystemd is loaded by the first call, so a machine without desktop notifications does not need it.
enum desktop_result desktop_notify(
    const struct desktop_notification *notification, int milliseconds, int interruption, char *message, size_t message_size);

#endif
