#ifndef COMMAND_PROCESS_H
#define COMMAND_PROCESS_H

#include <sys/types.h>

/// Starts a program, looked for in PATH, as the leader of a session of its own: every signal as it is by default, input as
/// standard input, output as standard output and standard error, and no other descriptor.
///
/// Returns 0 and its number, or the error's number (errno.h).
int command_start(char *const words[], char *const environment[], int input, int output, pid_t *number);

/// A descriptor that polls as readable once the process has ended; -1 where there is none, and errno says why.
int command_watch(pid_t number);

/// Two ends that are closed in programs and that nobody waits for; -1 where there are none, and errno says why.
int command_pipe(int *reading, int *writing);

#endif
