import Glibc

/// A reader that has seen enough closes the pipe, which is no error of anybody: from here on a write to it fails and is
/// noticed (``TerminalDevice``), where the signal would end the process.
public func ignoreClosedPipes() { signal(SIGPIPE, SIG_IGN) }
