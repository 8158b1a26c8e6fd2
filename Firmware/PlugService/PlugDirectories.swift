import DurableFiles

/// Where a plug keeps its files.
public struct PlugDirectories: Hashable, Sendable {
    /// Flash: id, key, event numbers, relay, energy, setup code and who is paired.
    public var state: String
    /// Memory that survives the process and not the board: the mirror, the panel socket.
    public var runtime: String

    private static let systemState = "/var/lib/plugd"
    private static let systemRuntime = "/run/plugd"

    /// - Parameters:
    ///   - state: default: the one that systemd made (StateDirectory=), or else /var/lib/plugd.
    ///   - runtime: default: the one that systemd made (RuntimeDirectory=), or else /run/plugd beside /var/lib/plugd, and
    ///     `run` inside any other state directory.
    public init(state: String? = nil, runtime: String? = nil) {
        let state = state ?? ServiceDirectories.state ?? Self.systemState
        self.state = state
        self.runtime =
            runtime ?? ServiceDirectories.runtime ?? (state == Self.systemState ? Self.systemRuntime : state + "/run")
    }

    var key: String { state + "/key" }
    /// The one that takes its place when all controllers know it.
    var nextKey: String { state + "/next-key" }
    var panelSocket: String { runtime + "/panel.sock" }
}
