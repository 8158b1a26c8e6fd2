#ifndef CAGE_H
#define CAGE_H

/// Puts the process into a sandbox that it cannot leave. The process then cannot access files, the network or other
/// processes, and has at most `cage_memory` bytes of address space. The process can only read from descriptor 0, write
/// to descriptor 1, allocate and free memory, read the clock and its used processor time, set the timer of its
/// processor time and the handler of SIGPROF, and exit. Any other system call kills it with SIGSYS. All other
/// descriptors except standard error are closed; root becomes the user `nobody`.
///
/// The function needs no privileges, and works in a service that is sandboxed itself. It must be called while the
/// process has only one thread.
///
/// Returns 0, or the error number of the call that the kernel refused, with the call's name in `step`. After an error
/// the process must not run a script.
int cage_close(const char **step);

/// The limit of the address space in bytes: Lua's memory, its library, the line buffer and room for fragmentation. It
/// is a second barrier behind Lua's own limit.
enum { cage_memory = 96 << 20 };

#endif
