import Glibc

/// Whether there is a process of this number, of whatever user. A service manager may hide those of others from /proc; the kernel
/// refuses to signal them all the same.
public func processIsRunning(_ id: Int32) -> Bool {
    id > 0 && (kill(id, 0) == 0 || errno == EPERM)
}
