#define _GNU_SOURCE
#include "process_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static void open_standard_descriptors(void) {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
        // open(2) returns the lowest free number, which is this one. If /dev is missing, the root directory occupies
        // it.
        if (open("/dev/null", O_RDWR) < 0) open("/", O_PATH | O_DIRECTORY);
    }
}

static int stays_ignored(int number) {
    return number == SIGHUP || number == SIGINT || number == SIGQUIT || number == SIGPIPE;
}

static void reset_signals(void) {
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction action;
        // The C library refuses the signal numbers that it uses itself.
        if (sigaction(number, NULL, &action) != 0 || action.sa_handler != SIG_IGN || stays_ignored(number)) continue;
        signal(number, SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void stop_timers(void) {
    const struct itimerval stopped = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &stopped, NULL);
    setitimer(ITIMER_VIRTUAL, &stopped, NULL);
    setitimer(ITIMER_PROF, &stopped, NULL);
}

static void reset_mask(void) {
    const mode_t inherited = umask(077);
    umask((inherited | 022) & 077);
}

static int is_done;

// Runs before main, because the runtime of Swift opens descriptors before the program's first statement.
__attribute__((constructor)) void process_setup(void) {
    if (is_done) return;
    is_done = 1;
    open_standard_descriptors();
    // Timers are stopped before the signals are reset. A timer that expired after the reset would end the program by
    // the default action of its signal.
    stop_timers();
    reset_signals();
    reset_mask();
}
