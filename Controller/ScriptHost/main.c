#define _GNU_SOURCE  // For clearenv.
#include <errno.h>
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

/// How it ends beside 0: the controller closed its end. SIGPROF has ended it where the script computed for too long in a C function,
/// SIGSYS where it asked the kernel for what it may not have.
enum {
    exit_usage = 64,
    /// There was no memory to begin with, or the prelude is wrong.
    exit_broken = 70,
    exit_no_cage = 71,
    exit_unheard = 74,
    /// The script keeps so much that nothing else has room: it begins anew.
    exit_full = 75,
};

/// Who started it may have held signals back, and those of the terminal and of the service manager are for the controller: it ends
/// this process by closing its input.
static void set_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const int others[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) signal(others[i], SIG_IGN);
    limits_prepare();
}

/// Whatever reads a file is done before there are none: the C library reads that of the time zone. Times are shifted by what the
/// controller says, and its own zone is none.
static void set_environment(void) {
    clearenv();
    setenv("TZ", "UTC0", 1);
    tzset();
}

/// The answer where the prelude could give none: memory ran out in it.
static const char no_answer[] = "{\"failed\":{\"error\":\"not enough memory: a script has at most 16 MiB\"}}\n";
static const char too_long[] = "{\"failed\":{\"error\":\"the line is longer than 1 MiB\"}}\n";
_Static_assert(limits_memory == 16 << 20 && lines_longest == 1 << 20, "told in the answers above");

static int serve(lua_State *L) {
    for (bool is_first = true;; is_first = false) {
        const char *line;
        size_t length;
        bool was_heard;
        switch (lines_next(&line, &length)) {
        case line_none: return 0;
        case line_too_long: was_heard = lines_write(too_long, sizeof too_long - 1); break;
        case line_whole:
            switch (interpreter_answer(L, line, length)) {
            case LUA_OK: {
                const char *answer = lua_tolstring(L, -1, &length);
                was_heard = lines_write(answer, length);
                break;
            }
            case LUA_ERRMEM:
                // What the prelude was at is half done.
                return lines_write(no_answer, sizeof no_answer - 1) ? exit_full : exit_unheard;
            default: return exit_broken;
            }
        }
        if (!was_heard) return exit_unheard;
        if (limits_refused() || is_first) {
            lua_settop(L, 0);
            lua_gc(L, LUA_GCCOLLECT);
            malloc_trim(0);
            if (limits_used() > limits_memory / 4 * 3) return exit_full;
        }
    }
}

int main(int count, char **arguments) {
    (void)arguments;
    // The name of its script, which process lists show.
    if (count > 2 || isatty(STDIN_FILENO)) {
        fputs("plugctl-script runs one script of rules; plugctl starts it and speaks to it\n", stderr);
        return exit_usage;
    }
    set_signals();
    set_environment();
    const char *step;
    const int error = cage_close(&step);
    if (error != 0) {
        fprintf(stderr, "plugctl-script: a script cannot be shut in: %s: %s\n", step, strerror(error));
        fputs("hint: scripts need a kernel with seccomp filters, and a service that lets them be set\n", stderr);
        return exit_no_cage;
    }
    lua_State *L = interpreter_open();
    _exit(L == NULL ? exit_broken : serve(L));
}
