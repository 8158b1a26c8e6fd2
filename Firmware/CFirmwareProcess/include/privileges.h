#ifndef PRIVILEGES_H
#define PRIVILEGES_H

#include <stdint.h>

/// Drops privileges of the calling thread and of threads that it starts later. Removes every capability without a bit
/// in `kept` (1 << number), including those that an executed program could gain, and blocks system calls that a plug
/// does not need, which then fail with EPERM. Sets the file mode creation mask to 077 and disables core files. The
/// changes are permanent.
///
/// Returns 0, or the error number of the failed call, whose name is stored in `step`.
int cprivileges_drop(uint64_t kept, const char **step);

/// Permanently switches the process from root to the owner of the file or folder, with the owner's groups. Does nothing
/// if the path does not exist, if root owns it, or if the process does not run as root. Call it before the process has
/// a second thread.
///
/// Returns 0, or the error number of the failed call, whose name is stored in `step`.
int cprivileges_become_owner(const char *path, const char **step);

#endif
