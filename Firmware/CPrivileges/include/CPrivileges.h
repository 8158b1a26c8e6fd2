#ifndef CPRIVILEGES_H
#define CPRIVILEGES_H

#include <stdint.h>

/// Gives up, for the calling thread and all that it will start: every capability that has no bit in `kept` (1 << number), and also
/// those as what a program could gain by being executed; and system calls that a plug has no use for, which fail with EPERM from then on. Cannot be undone.
///
/// Returns 0, or the error number of what the kernel refused, whose name is stored in `step`.
int cprivileges_drop(uint64_t kept, const char **step);

/// Root becomes the user who owns the file or folder, with that user's groups, for good. Where nothing is there, or it is
/// root's, and for anybody else, nothing happens. To be called before the process has a second thread.
///
/// Returns 0, or the error number of what the kernel refused, whose name is stored in `step`.
int cprivileges_become_owner(const char *path, const char **step);

#endif
