#ifndef PROCESS_SETUP_H
#define PROCESS_SETUP_H

/// Resets the state that a program inherits from its parent process. The constructor of this library calls it before
/// `main`; a further call is harmless.
///
/// - Descriptors 0 to 2 that are closed are opened on /dev/null, so that no other file gets their numbers.
/// - Ignored signals get their default action, and all signals are unblocked. Without this, an ignored SIGCHLD hides
///   the status of a child. SIGHUP, SIGINT and SIGQUIT stay ignored, because nohup(1) and shells ignore them for
///   programs in the background. SIGPIPE stays ignored too, because service managers ignore it, so that a closed log
///   does not end a service.
/// - Timers (setitimer(2)) are stopped.
/// - The file mode creation mask leaves the owner all permissions, and lets no other user write. A stricter mask stays.
void process_setup(void);

#endif
