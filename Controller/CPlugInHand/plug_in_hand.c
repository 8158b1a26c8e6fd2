#define _GNU_SOURCE
#include "plug_in_hand.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

// A handler may interrupt anything, also the allocator: it calls only what signal-safety(7) allows, and works on its stack.

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
enum { signal_count = sizeof signals / sizeof signals[0], plug_digits = 12 };

// Of each thread its own: several plugs are handled at the same time, and the one that matters is the dying thread's.
static _Thread_local volatile uint64_t in_hand;
static int file = -1;
static atomic_flag is_dying = ATOMIC_FLAG_INIT;
static struct sigaction before[signal_count];

uint64_t plug_in_hand(uint64_t plug) {
    uint64_t other = in_hand;
    in_hand = plug;
    return other;
}

// The last `least` digits, and more where they are needed.
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
    // Another thread may die of the same at the same time: the first is told.
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
        // What cannot be written is lost: there is nobody to tell.
        ssize_t written = pwrite(file, line, length, 0);
        (void)written;
    }
    for (int index = 0; index < signal_count; index++) {
        if (signals[index] == signal) sigaction(signal, &before[index], NULL);
    }
    errno = error;
    // It waits until this handler returns, and is then whoever's it was before.
    raise(signal);
}

int leave_plug_in_hand(const char *path) {
    int opened = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (opened < 0) return errno;
    if (file >= 0) {
        // The handlers are there already: they have another file from now on.
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
