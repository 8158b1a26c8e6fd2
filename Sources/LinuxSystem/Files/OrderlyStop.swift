import Glibc

/// Ends a process that was requested to stop.
public enum OrderlyStop {
    /// The default time limit. It is shorter than the limit of the service manager (`TimeoutStopSec=20s` in the unit
    /// files), after which the service manager kills the process.
    public static let limit = Duration.seconds(15)

    /// Ends the process immediately with status 128 + signal, as shells report it. Used by commands that have nothing
    /// to store.
    public static func now(on signal: Int32) -> Never { _exit(128 + signal) }

    /// Ends the process with status 1 if it has not exited after the time limit: a thread may wait for a file system
    /// that never answers. Data that must survive is already on the storage.
    ///
    /// - Parameter program: the name of the program, for the line on standard error.
    public static func limit(_ program: String, to limit: Duration = limit) {
        let words = "\(program): did not stop within \(limit.components.seconds) s; exits now\n"
        try? startThread {
            var seconds = UInt32(limit.components.seconds)
            while seconds > 0 { seconds = sleep(seconds) }
            // Standard error may have no reader, and a blocking write would then hang too.
            _ = fcntl(STDERR_FILENO, F_SETFL, fcntl(STDERR_FILENO, F_GETFL) | O_NONBLOCK)
            _ = words.utf8.withContiguousStorageIfAvailable { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            _exit(1)
        }
    }
}
