#ifndef COMMAND_PROCESS_H
#define COMMAND_PROCESS_H

#include <sys/types.h>

/// Starts a program, searched in PATH, as the leader of a new session: default signal handlers, `input` as standard
/// input, `output` as standard output and standard error, and no other descriptor.
///
/// `program` is its path, or NULL for the first of the words. `fence` is a descriptor of key_fence.h, or -1 for no
/// restrictions.
///
/// Returns 0 and stores the process id in `number`, or returns the error number (errno.h).
int command_start(
    const char *program, char *const words[], char *const environment[], int input, int output, int fence,
    pid_t *number);

/// Returns a descriptor that polls as readable after the process has ended; -1 on an error, with errno.
int command_watch(pid_t number);

/// Opens a pipe with close-on-exec and non-blocking ends. Returns -1 on an error, with errno.
int command_pipe(int *reading, int *writing);

#endif
