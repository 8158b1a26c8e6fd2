#ifndef CRASH_REPORT_H
#define CRASH_REPORT_H

/// Starts the report of this process: a new file with `header`, and a line with the program's build id if it has one.
/// From then on the handler of a fault signal (SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS) adds the
/// signal's name and the program's stack. Then the signal ends the process as usual.
///
/// After a second call, reports go to the new file. Returns 0 or an error number.
int ccrashreport_begin(const char *path, const char *header);

/// Stops the reporting.
void ccrashreport_end(void);

#endif
