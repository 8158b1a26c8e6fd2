import Glibc

/// Where a person's programs keep their files (XDG Base Directory Specification).
public enum UserDirectories {
    /// The home folder in the environment (`HOME`), else that of the effective user in the system's list of users (passwd(5)). A user
    /// without an entry there has ``missingHome``.
    public static var home: String { absolute("HOME") ?? listedHome ?? (geteuid() == 0 ? "/root" : missingHome) }

    /// A path that does not exist. Debian gives it to users who have no home folder.
    static let missingHome = "/nonexistent"

    /// Read once: each lookup may ask a server.
    private static let listedHome: String? = home(of: geteuid())

    /// - Returns: nil if the user has no entry, or one without an absolute path.
    static func home(of user: uid_t) -> String? {
        // Stops an entry that is damaged from filling the memory.
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

    /// For what a program remembers from one run to the next.
    public static var state: String {
        if let named = absolute("XDG_STATE_HOME") { return named }
        return home + "/.local/state"
    }

    /// For what a person sets up.
    public static var configuration: String {
        if let named = absolute("XDG_CONFIG_HOME") { return named }
        return home + "/.config"
    }

    /// For sockets and what else lives as long as the person is logged in. Nil where nobody made such a directory.
    public static var runtime: String? { absolute("XDG_RUNTIME_DIR") }

    /// A relative path is invalid there, and to be ignored.
    private static func absolute(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), value.hasPrefix("/") else { return nil }
        return value
    }
}
