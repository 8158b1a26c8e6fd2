import Glibc

/// The directories that systemd created for this process, from its environment (systemd.exec(5)).
public enum ServiceDirectories {
    /// The first directory of `StateDirectory=`, which survives a reboot; nil if the process is not a service with this
    /// setting.
    public static var state: String? { first("STATE_DIRECTORY") }
    /// The first directory of `RuntimeDirectory=`, which is in memory; nil if the process is not a service with this
    /// setting. With `RuntimeDirectoryPreserve=` it survives a restart of the service.
    public static var runtime: String? { first("RUNTIME_DIRECTORY") }

    /// Returns the first path in an environment variable, which is the service's own directory; nil if the variable is
    /// not set or empty. Colons separate its paths.
    private static func first(_ name: String) -> String? {
        guard let list = getenv(name) else { return nil }
        return String(cString: list).split(separator: ":").first.map(String.init)
    }
}
