#include <stdint.h>

/// This thread handles what this plug said from now on; 0 for none.
///
/// Returns what was so before.
uint64_t plug_in_hand(uint64_t plug);

/// From now on a process that dies by a fault (SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS) leaves one line in this file:
/// the signal's number, what the dying thread had in hand as twelve hexadecimal digits, and the seconds since 1970. The file is empty
/// until then. To be called once, before threads that matter begin.
///
/// Returns 0, or the number of an error.
int leave_plug_in_hand(const char *path);
