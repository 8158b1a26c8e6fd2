import Glibc

/// The end of a process that was told to stop.
public enum OrderlyStop {
    /// Less than a service manager waits before it kills (`TimeoutStopSec=20s` in our units).
    public static let limit = Duration.seconds(15)

    /// Ends the process at once, with the status that shells report for a process that the signal ended. For a command that has nothing to
    /// store.
    public static func now(on signal: Int32) -> Never { _exit(128 + signal) }

    /// Ends the process with status 1 when it is still there after the limit: a thread may wait for a file system that never answers, and
    /// what has to survive is written long before.
    ///
    /// - Parameter program: its name, for the line on standard error.
    public static func limit(_ program: String, to limit: Duration = limit) {
        let words = "\(program): did not stop within \(limit.components.seconds) s; ends now\n"
        _ = startThread {
            var seconds = UInt32(limit.components.seconds)
            while seconds > 0 { seconds = sleep(seconds) }
            // Nobody may read standard error any more, and then writing to it would wait, too.
            _ = fcntl(STDERR_FILENO, F_SETFL, fcntl(STDERR_FILENO, F_GETFL) | O_NONBLOCK)
            _ = words.utf8.withContiguousStorageIfAvailable { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            _exit(1)
        }
    }
}
