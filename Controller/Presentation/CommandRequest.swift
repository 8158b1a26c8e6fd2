public import PlugModel

/// A command as the daemon's API takes it.
public struct CommandRequest: Hashable, Sendable {
    private struct Relay: Encodable {
        var on: Bool
        /// Seconds.
        var autoOff: Double?
    }

    private struct Level: Encodable {
        /// Per cent.
        var level: Double
        /// Seconds.
        var over: Double
    }

    /// Below the plug's own place.
    public let place: String
    public let json: String

    /// Nil for what the API does not know: that is for the plug itself.
    public init?(_ command: PlugCommand) {
        switch command {
        case .setRelay(let on, let autoOff):
            place = "relay"
            json = jsonLine(Relay(on: on, autoOff: autoOff.map { $0 / .seconds(1) }))
        case .setLevel(let level, let transition):
            place = "level"
            json = jsonLine(Level(level: level.percent, over: transition / .seconds(1)))
        case .resetProtection: (place, json) = ("protection/reset", "{}")
        default:
            guard command == .identify else { return nil }
            (place, json) = ("identify", "{}")
        }
    }
}

extension PlugState {
    /// What a command needs to know of a plug; nil for one that is not connected.
    public init?(_ plug: PlugRecord) {
        guard plug.state == "connected", let on = plug.on else { return nil }
        self.init(
            relayOn: on, level: plug.level.map { DimLevel(percent: $0) },
            tripped: plug.tripped.flatMap(Protection.init(rawValue:)))
    }
}
