#ifndef SCRIPT_PROCESS_H
#define SCRIPT_PROCESS_H

#include <sys/types.h>

/// Creates a socket pair with close-on-exec ends, of which `ours` is non-blocking. Returns -1 on an error, with errno.
int script_socket_pair(int *ours, int *theirs);

/// Starts the program at the path as the leader of a new session: default signal handlers, `socket` as standard input
/// and output, standard error on /dev/null, no other descriptor, and an empty environment. `name` is its only argument.
///
/// Returns 0 and stores the process id in `number`, or returns the error number (errno.h).
int script_process_start(const char *path, const char *name, int socket, pid_t *number);

#endif
