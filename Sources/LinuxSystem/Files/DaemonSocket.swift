import Glibc

/// The local socket of `plugctl daemon`, which accepts commands of the daemon's user.
public enum DaemonSocket {
    /// The kind of entry at a socket's path.
    public enum Presence: Hashable, Sendable {
        /// The path does not exist, or its status cannot be read.
        case absent
        /// A socket of this user or of root.
        case own
        /// A socket of another user, with the user id. A client must not use it: its owner would receive the house's
        /// data.
        case foreign(owner: UInt32)
        /// Any other entry, such as a link, a file or a directory.
        case noSocket
    }

    /// The longest path of a socket in bytes (unix(7), `sun_path` without its terminating zero).
    public static let longestPath = 107

    /// Returns the path of the socket.
    ///
    /// - Parameter named: the path that the user named. If it is nil, $SMARTPLUG_DAEMON is used. If that is not set or
    ///   empty, the path is `daemon.socket` in the service's runtime directory, or else `smartplug/daemon.socket` in
    ///   the user's runtime directory, or else in the user's state directory.
    public static func path(_ named: String? = nil) -> String {
        if let named { return named }
        if let asked = environment, !asked.isEmpty { return asked }
        if let directory = ServiceDirectories.runtime { return directory + "/daemon.socket" }
        return (UserDirectories.runtime ?? UserDirectories.state) + "/smartplug/daemon.socket"
    }

    /// True if the user disables the daemon: $SMARTPLUG_DAEMON is set and empty.
    public static var isDeclined: Bool { environment?.isEmpty == true }

    /// Returns the kind of entry at the path. It only reads the entry's status and opens nothing.
    public static func presence(at path: String) -> Presence {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .absent }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return .noSocket }
        return status.st_uid == geteuid() || status.st_uid == 0 ? .own : .foreign(owner: status.st_uid)
    }

    /// Returns true if only this user and root can replace a socket in the directory. This user or root must own the
    /// directory. Other users must not be able to write to it, unless it has the sticky bit, as /tmp has.
    public static func isSafe(directory: String) -> Bool {
        var status = stat()
        guard stat(directory, &status) == 0, status.st_uid == geteuid() || status.st_uid == 0 else { return false }
        return status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0
    }

    private static var environment: String? { getenv("SMARTPLUG_DAEMON").map { String(cString: $0) } }
}
