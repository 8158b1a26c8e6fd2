#ifndef CCRASHREPORT_H
#define CCRASHREPORT_H

/// Begins the report of this life: a new file with `header`, and a line with the program's build id where it has one. From then on
/// a signal that ends the process for a fault of its own (SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS) adds which
/// it was and where the program was, and ends the process as it would have without.
///
/// Called again, it goes on in the new file. Returns 0 or an error number.
int ccrashreport_begin(const char *path, const char *header);

/// Nothing is reported any more.
void ccrashreport_end(void);

#endif
