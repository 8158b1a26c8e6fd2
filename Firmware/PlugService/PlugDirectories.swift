import LinuxSystem

/// The directories of a plug's files.
public struct PlugDirectories: Hashable, Sendable {
    /// The directory in flash, with id, key, event numbers, relay state, energy, setup code and controllers.
    public var state: String
    /// The directory in memory, with the mirror and the panel socket. Its files survive the process, but not a reboot.
    public var runtime: String

    private static let systemState = "/var/lib/plugd"
    private static let systemRuntime = "/run/plugd"

    /// Creates the paths without accessing them.
    ///
    /// - Parameters:
    ///   - state: By default the directory from systemd (StateDirectory=), or /var/lib/plugd.
    ///   - runtime: By default the directory from systemd (RuntimeDirectory=), or /run/plugd if `state` is
    ///     /var/lib/plugd, or `run` inside any other state directory.
    public init(state: String? = nil, runtime: String? = nil) {
        let state = state ?? ServiceDirectories.state ?? Self.systemState
        self.state = state
        self.runtime =
            runtime ?? ServiceDirectories.runtime ?? (state == Self.systemState ? Self.systemRuntime : state + "/run")
    }

    var key: String { state + "/key" }
    /// The key that replaces the current one when all controllers know it.
    var nextKey: String { state + "/next-key" }
    /// The key by which the plug owns its names at a registrar (RFC 9665).
    var registrationKey: String { state + "/registration-key" }
    var panelSocket: String { runtime + "/panel.sock" }
}
