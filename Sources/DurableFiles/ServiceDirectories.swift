import Glibc

/// The directories that systemd made for this process, as it says in the environment (systemd.exec(5)).
public enum ServiceDirectories {
    /// Of `StateDirectory=`: survives a restart of the machine. Nil where the process is no such service.
    public static var state: String? { first("STATE_DIRECTORY") }
    /// Of `RuntimeDirectory=`: lies in memory. It survives a restart of the service with `RuntimeDirectoryPreserve=`.
    public static var runtime: String? { first("RUNTIME_DIRECTORY") }

    /// Several stand in a list with colons between them; the first is the service's own.
    private static func first(_ name: String) -> String? {
        guard let list = getenv(name) else { return nil }
        return String(cString: list).split(separator: ":").first.map(String.init)
    }
}
