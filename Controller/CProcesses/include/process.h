#ifndef PROCESS_H
#define PROCESS_H

#include <sys/types.h>

/// A program to start as the leader of a new session, with default signal handlers.
struct process_plan {
    /// The path of the program; NULL to search for `words[0]` in the folders of PATH.
    const char *program;
    /// The arguments, beginning with the program's name, and the environment; both end with NULL.
    char *const *words;
    char *const *environment;
    /// The descriptors of standard input, standard output and standard error (-1 for /dev/null). They may be equal. The
    /// program gets no others.
    int input, output, error;
    /// A descriptor of key_fence.h, or -1 for no restrictions.
    int fence;
};

/// Starts a program. Returns 0 and stores the process id in `number`, or returns the error number (errno.h).
int process_start(const struct process_plan *plan, pid_t *number);

/// Returns a descriptor that polls as readable after the process has ended; -1 on an error, with errno.
int process_watch(pid_t number);

/// Opens a pipe with close-on-exec and non-blocking ends. Returns -1 on an error, with errno.
int process_pipe(int *reading, int *writing);

/// Opens a socket pair with close-on-exec ends. Only `ours` is non-blocking. Returns -1 on an error, with errno.
int process_socket_pair(int *ours, int *theirs);

/// Opens an empty file in memory, close-on-exec. Returns -1 on an error, with errno.
int process_memory_file(void);

#endif
