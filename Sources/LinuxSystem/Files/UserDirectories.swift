import Glibc

/// The directories of the user's files (XDG Base Directory Specification).
public enum UserDirectories {
    /// The home folder: `HOME`, or the one in the effective user's entry in the user database (passwd(5)). If both are
    /// missing, it is /root for root and ``missingHome`` for any other user.
    public static var home: String { absolute("HOME") ?? listedHome ?? (geteuid() == 0 ? "/root" : missingHome) }

    /// A path that does not exist. Debian uses it for users without a home folder.
    static let missingHome = "/nonexistent"

    /// The lookup is made once, because it may query a server.
    private static let listedHome: String? = home(of: geteuid())

    /// Returns the home folder in the user database.
    ///
    /// - Returns: nil if the user has no entry, or one without an absolute path.
    static func home(of user: uid_t) -> String? {
        // The limit in bytes stops a damaged entry from filling the memory.
        let limit = 1 << 20
        var size = 1024
        while size <= limit {
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            let (error, path) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
                guard let start = buffer.baseAddress else { return (ENOMEM, String?.none) }
                let error = getpwuid_r(user, &entry, start, buffer.count, &found)
                return (error, found?.pointee.pw_dir.map { String(cString: $0) })
            }
            guard error == ERANGE else { return path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
            size *= 4
        }
        return nil
    }

    /// The directory for state that programs keep between runs.
    public static var state: String {
        if let named = absolute("XDG_STATE_HOME") { return named }
        return home + "/.local/state"
    }

    /// The directory for configuration files.
    public static var configuration: String {
        if let named = absolute("XDG_CONFIG_HOME") { return named }
        return home + "/.config"
    }

    /// The directory for sockets and other files that exist while the user is logged in; nil if $XDG_RUNTIME_DIR is not
    /// set or not absolute.
    public static var runtime: String? { absolute("XDG_RUNTIME_DIR") }

    /// Returns the path in an environment variable, or nil if the variable is not set or its path is relative. The
    /// specification requires that relative paths are ignored.
    private static func absolute(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), value.hasPrefix("/") else { return nil }
        return value
    }
}
