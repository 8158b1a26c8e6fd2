#ifndef SCRIPT_PROCESS_H
#define SCRIPT_PROCESS_H

#include <sys/types.h>

/// Two ends of a stream that are closed in programs and that nobody waits for; -1, and errno says why, where there are none.
int script_socket_pair(int *ours, int *theirs);

/// Starts a program by its path, as the leader of a session of its own: every signal as it is by default, `socket` as standard input
/// and standard output, nothing to complain to, no other descriptor, and nothing in its environment.
///
/// Returns 0 and its number, or the error's number (errno.h).
int script_process_start(const char *path, const char *name, int socket, pid_t *number);

#endif
