import Glibc

/// Returns true if a process with this id exists, whichever user owns it. A service manager may hide processes of other
/// users from /proc, but the kernel still reports them by refusing the signal (EPERM).
public func processIsRunning(_ id: Int32) -> Bool {
    id > 0 && (kill(id, 0) == 0 || errno == EPERM)
}
