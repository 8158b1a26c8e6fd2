#define _GNU_SOURCE
#include "plug_in_hand.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

// A handler may interrupt any code, including the allocator. It calls only functions that signal-safety(7) allows, and
// uses only its stack.

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
enum { signal_count = sizeof signals / sizeof signals[0], plug_digits = 12 };

// Per thread, because several threads process plugs at the same time and only the crashing thread's plug is relevant.
static _Thread_local volatile uint64_t in_hand;
static int file = -1;
static atomic_flag is_dying = ATOMIC_FLAG_INIT;
static struct sigaction before[signal_count];

uint64_t plug_in_hand(uint64_t plug) {
    uint64_t other = in_hand;
    in_hand = plug;
    return other;
}

// Appends the number with at least `least` digits and returns the new length.
static size_t add_number(char *text, size_t length, uint64_t number, unsigned base, unsigned least) {
    char digits[24];
    size_t first = sizeof digits;
    while (number != 0 || sizeof digits - first < least) {
        digits[--first] = "0123456789abcdef"[number % base];
        number /= base;
    }
    while (first < sizeof digits) text[length++] = digits[first++];
    return length;
}

static void die(int signal) {
    int error = errno;
    // Several threads may crash at the same time. Only the first one is recorded.
    if (!atomic_flag_test_and_set(&is_dying)) {
        struct timespec now = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        char line[80];
        size_t length = add_number(line, 0, (uint64_t)signal, 10, 1);
        line[length++] = ' ';
        length = add_number(line, length, in_hand & 0xFFFFFFFFFFFF, 16, plug_digits);
        if (in_hand == 0) {
            length -= plug_digits;
            line[length++] = '-';
        }
        line[length++] = ' ';
        length = add_number(line, length, (uint64_t)now.tv_sec, 10, 1);
        line[length++] = '\n';
        // A failed write is ignored, because it cannot be reported.
        ssize_t written = pwrite(file, line, length, 0);
        (void)written;
    }
    for (int index = 0; index < signal_count; index++) {
        if (signals[index] == signal) sigaction(signal, &before[index], NULL);
    }
    errno = error;
    // The signal is blocked until this handler returns. The previous handler then receives it.
    raise(signal);
}

int leave_plug_in_hand(const char *path) {
    int opened = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (opened < 0) return errno;
    if (file >= 0) {
        // The handlers are installed already and use the new file from now on.
        int old = file;
        file = opened;
        close(old);
        return 0;
    }
    file = opened;
    struct sigaction action = {.sa_handler = die, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int index = 0; index < signal_count; index++) {
        if (sigaction(signals[index], &action, &before[index]) != 0) return errno;
    }
    return 0;
}
