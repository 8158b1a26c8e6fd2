#ifndef DESKTOP_NOTIFICATION_H
#define DESKTOP_NOTIFICATION_H

#include <stddef.h>

/// What became of a notification.
enum desktop_result {
    desktop_shown = 0,
    /// libsystemd is not on this machine, or lacks a function; `message` is what the loader says.
    desktop_missing = 1,
    /// There is no session bus, nobody on it shows notifications, or it is refused; `message` says which.
    desktop_failed = 2,
    /// No answer came in time.
    desktop_late = 3,
    desktop_interrupted = 4,
};

/// Texts are UTF-8.
struct desktop_notification {
    const char *summary;
    const char *body;
    /// The same where markup is read.
    const char *marked_up_body;
    /// 0 low, 1 normal, 2 critical
    unsigned char urgency;
};

/// Shows it on the desktop of whoever is logged in as this user (Desktop Notifications Specification 1.2), and waits for the answer:
/// so many milliseconds at most, or until the descriptor can be read. `message` gets text that ends with a zero byte where it is
/// not shown.
///
/// libsystemd is loaded when this is first called: whoever wants no such notifications needs none.
enum desktop_result desktop_notify(
    const struct desktop_notification *notification, int milliseconds, int interruption, char *message, size_t message_size);

#endif
