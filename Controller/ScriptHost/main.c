#define _GNU_SOURCE  // For clearenv.
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cage.h"
#include "interpreter.h"
#include "limits.h"
#include "lines.h"

/// Exit statuses other than 0 (the controller closed its end). SIGPROF ends the process if the script computes for too
/// long in a C function; SIGSYS ends it after a forbidden system call.
enum {
    exit_usage = 64,
    /// There was not enough memory to load the prelude, or the prelude has an error.
    exit_broken = 70,
    exit_no_cage = 71,
    /// The answer could not be written, because the controller has closed its end.
    exit_unheard = 74,
    /// The script's data fills the memory; the controller starts a new process.
    exit_full = 75,
};

/// Opens closed standard descriptors on /dev/null, so that no file that is opened later gets their numbers.
static void open_standard_descriptors(void) {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) open("/dev/null", O_RDWR);
    }
}

/// Unblocks all signals, because the parent may have blocked some. Ignores the signals of the terminal and the service
/// manager: they are for the controller, which ends this process by closing its input.
static void set_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const int others[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) signal(others[i], SIG_IGN);
    limits_prepare();
}

/// Makes the C library read the time zone's file before the sandbox forbids files. The zone is UTC; the prelude adds
/// the offset that the controller sends.
static void set_environment(void) {
    clearenv();
    setenv("TZ", "UTC0", 1);
    tzset();
}

/// The answer if memory ran out in the prelude itself.
static const char no_answer[] = "{\"failed\":{\"error\":\"not enough memory: a script has at most 16 MiB\"}}\n";
static const char too_long[] = "{\"failed\":{\"error\":\"the line is longer than 1 MiB\"}}\n";
_Static_assert(limits_memory == 16 << 20 && lines_longest == 1 << 20, "the answers above contain these limits");

static int tell(const char *text, size_t length) { return lines_write(text, length) ? 0 : exit_unheard; }

/// Returns 0, or the exit status of the process.
static int answer(lua_State *L, const char *line, size_t length) {
    switch (interpreter_answer(L, line, length)) {
    case LUA_OK: {
        size_t size;
        const char *text = lua_tolstring(L, -2, &size);
        const int status = tell(text, size);
        return status == 0 && lua_toboolean(L, -1) ? exit_full : status;
    }
    case LUA_ERRMEM: {
        // The prelude was interrupted, so its data is not consistent.
        const int status = tell(no_answer, sizeof no_answer - 1);
        return status == 0 ? exit_full : status;
    }
    default: return exit_broken;
    }
}

/// Frees memory after loading, and after a request that reached the memory limit.
static void give_back_memory(lua_State *L) {
    lua_settop(L, 0);
    lua_gc(L, LUA_GCCOLLECT);
    malloc_trim(0);
}

static int serve(lua_State *L) {
    for (bool is_first = true;; is_first = false) {
        const char *line;
        size_t length;
        const enum line_kind kind = lines_next(&line, &length);
        if (kind == line_none) return 0;
        const int status = kind == line_too_long ? tell(too_long, sizeof too_long - 1) : answer(L, line, length);
        if (status != 0) return status;
        const bool was_refused = limits_refused();
        if (was_refused || is_first) give_back_memory(L);
        if (was_refused && limits_used() > limits_memory / 4 * 3) return exit_full;
    }
}

int main(int count, char **arguments) {
    (void)arguments;
    open_standard_descriptors();
    // The argument is the name of the script, for process lists.
    if (count > 2 || isatty(STDIN_FILENO)) {
        fputs("plugctl-script runs one script of rules; plugctl starts it and sends it requests\n", stderr);
        return exit_usage;
    }
    set_signals();
    set_environment();
    const char *step;
    const int error = cage_close(&step);
    if (error != 0) {
        fprintf(stderr, "plugctl-script: the sandbox cannot be set up: %s: %s\n", step, strerror(error));
        fputs("hint: scripts need a kernel with seccomp filters, and a service that allows them\n", stderr);
        return exit_no_cage;
    }
    lua_State *L = interpreter_open();
    _exit(L == NULL ? exit_broken : serve(L));
}
