#ifndef CAGE_H
#define CAGE_H

/// Shuts the process in, for good: no files, no network, no other processes, no more memory than `cage_memory`. What is left is to read
/// from descriptor 0, to write to descriptor 1, to take and give back memory, to be told how much time it has used, and to end. Any other
/// system call kills the process with SIGSYS. Every other descriptor than these and standard error is closed;
/// root becomes nobody.
///
/// Works without privileges, and inside a service that has been shut in itself. To be called while the process has one thread.
///
/// Returns 0, or the error number of what the kernel refused, whose name is stored in `step`; then nothing may run.
int cage_close(const char **step);

/// Bytes of address space: what Lua may take, its library, the lines and room for fragments. A second wall behind Lua's own limit.
enum { cage_memory = 96 << 20 };

#endif
