#include <stdint.h>

/// Set in the number of every plug, so that a plug whose id is zero differs from no plug.
static const uint64_t plug_is_in_hand = 0x1000000000000;

/// From now on this thread handles messages of this plug: its 48 bits with ``plug_is_in_hand``, or 0 for none.
///
/// Returns what was so before.
uint64_t plug_in_hand(uint64_t plug);

/// From now on a process that dies by a fault (SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS) leaves one line in this file:
/// the signal's number, what the dying thread had in hand as twelve hexadecimal digits, and the seconds since 1970. The file is empty
/// until then. To be called once, before threads that matter begin.
///
/// Returns 0, or the number of an error.
int leave_plug_in_hand(const char *path);
