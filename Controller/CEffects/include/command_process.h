#ifndef COMMAND_PROCESS_H
#define COMMAND_PROCESS_H

#include <sys/types.h>

/// Starts a program, looked for in PATH, as the leader of a session of its own: every signal as it is by default, input as
/// standard input, output as standard output and standard error, and no other descriptor.
///
/// `program` is its path, or NULL for the first of the words. It is behind the fence (key_fence.h), unless that is -1.
///
/// Returns 0 and its number, or the error's number (errno.h).
int command_start(
    const char *program, char *const words[], char *const environment[], int input, int output, int fence,
    pid_t *number);

/// A descriptor that polls as readable once the process has ended; -1 where there is none, and errno says why.
int command_watch(pid_t number);

/// Two ends that are closed in programs and that nobody waits for; -1 where there are none, and errno says why.
int command_pipe(int *reading, int *writing);

#endif
