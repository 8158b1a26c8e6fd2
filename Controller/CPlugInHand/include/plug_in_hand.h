#include <stdint.h>

/// This bit is set in the number of every plug, so that the number of a plug with the id zero differs from 0 (no plug).
static const uint64_t plug_is_in_hand = 0x1000000000000;

/// Sets the plug whose data this thread processes from now on: the 48 bits of its id with the bit plug_is_in_hand; 0
/// for no plug.
///
/// Returns the previous value.
uint64_t plug_in_hand(uint64_t plug);

/// Installs handlers for the signals of a crash (SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS). A crash
/// then writes one line to the file at `path`: the signal number; the id of the plug that the crashing thread had set,
/// as twelve hexadecimal digits, or "-" for no plug; and the seconds since 1970. The file is created if it is missing,
/// and is emptied. Call this before other threads start. A further call replaces the file.
///
/// Returns 0 or an errno value.
int leave_plug_in_hand(const char *path);
