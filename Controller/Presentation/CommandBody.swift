public import PlugModel

/// A command in the format of the daemon's API.
public struct CommandBody: Hashable, Sendable {
    private struct Relay: Encodable {
        var on: Bool
        /// The time until the plug turns off, in seconds.
        var autoOff: Double?
    }

    private struct Level: Encodable {
        /// The level in percent.
        var level: Double
        /// The duration of the transition in seconds.
        var over: Double
    }

    /// The path of the request, below the plug's own path.
    public let place: String
    /// The body of the request.
    public let json: String

    /// Encodes a command. Nil if the API does not support the command; the caller then sends it directly to the plug.
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
    /// Creates the state from a record, as far as commands need it. Nil if the plug is not connected.
    public init?(_ plug: PlugRecord) {
        guard plug.state == "connected", let on = plug.on else { return nil }
        self.init(
            relayOn: on, level: plug.level.map { DimLevel(percent: $0) },
            tripped: plug.tripped.flatMap(Protection.init(rawValue:)))
    }
}
