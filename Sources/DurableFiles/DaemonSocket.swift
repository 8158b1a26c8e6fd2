import Glibc

/// The local socket of `plugctl daemon`: where it listens for the commands of its own user.
public enum DaemonSocket {
    /// What stands at a socket's path.
    public enum Presence: Hashable, Sendable {
        case absent
        /// A socket that this user made, or root, who may do anything anyway.
        case own
        /// Somebody else's, by number: who speaks to it tells them what this house has.
        case foreign(owner: UInt32)
        /// A link, a file, a directory.
        case noSocket
    }

    /// Bytes of the longest path that the kernel takes (unix(7), `sun_path` without its closing zero).
    public static let longestPath = 107

    /// - Parameter named: what a person asked for; nil for $SMARTPLUG_DAEMON, else the service's runtime directory, else the
    ///   user's, else, where there is none, the directory of what programs remember.
    public static func path(_ named: String? = nil) -> String {
        if let named { return named }
        if let asked = environment, !asked.isEmpty { return asked }
        if let directory = ServiceDirectories.runtime { return directory + "/daemon.socket" }
        return (UserDirectories.runtime ?? UserDirectories.state) + "/smartplug/daemon.socket"
    }

    /// Whether the environment asks for doing without a daemon: $SMARTPLUG_DAEMON is there and empty.
    public static var isDeclined: Bool { environment?.isEmpty == true }

    /// Looks at the name alone, and opens nothing.
    public static func presence(at path: String) -> Presence {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .absent }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return .noSocket }
        return status.st_uid == geteuid() || status.st_uid == 0 ? .own : .foreign(owner: status.st_uid)
    }

    /// Whether nobody but this user and root can put anything of theirs in the place of a socket there: it is theirs, and nobody
    /// else may write in it, or nobody there can take another's file away, as in /tmp.
    public static func isSafe(directory: String) -> Bool {
        var status = stat()
        guard stat(directory, &status) == 0, status.st_uid == geteuid() || status.st_uid == 0 else { return false }
        return status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0
    }

    private static var environment: String? { getenv("SMARTPLUG_DAEMON").map { String(cString: $0) } }
}
