import Glibc

/// Where a person's programs keep their files (XDG Base Directory Specification).
public enum UserDirectories {
    public static var home: String { absolute("HOME") ?? "/root" }

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
