public import Metering

/// The current state of a plug. Each state replaces all earlier ones.
public struct PlugState: Hashable, Sendable {
    /// True if the relay is closed.
    public var relayOn: Bool
    /// The dim level, or nil for a plug without a dimmer.
    public var level: DimLevel?
    /// The last reading, or nil while the meter does not answer.
    public var reading: Reading?
    /// The protection that keeps the relay open until a deliberate reset, or nil if none has tripped.
    public var tripped: Protection?
    /// The hosts that sleep or have slept at the plug's sleep proxy, at most ``PlugSleeper/limit``. Only states of the
    /// state lane have them, not the answers to commands.
    public var sleepers: [PlugSleeper]

    /// Creates a state.
    public init(
        relayOn: Bool, level: DimLevel? = nil, reading: Reading? = nil, tripped: Protection? = nil,
        sleepers: [PlugSleeper] = []
    ) {
        self.relayOn = relayOn
        self.level = level
        self.reading = reading
        self.tripped = tripped
        self.sleepers = sleepers
    }
}

/// A dim level in thousandths, from 0 to 1000. The plug keeps it while the relay is off.
public struct DimLevel: Hashable, Comparable, Sendable {
    /// The level in thousandths of full brightness.
    public let permille: UInt16

    /// Returns nil unless the value is from 0 to 1000.
    public init?(permille: Int) {
        guard (0...1000).contains(permille) else { return nil }
        self.permille = UInt16(permille)
    }

    /// Creates the level that is nearest to a percentage. Values outside 0 to 100 are clamped.
    public init(percent: Double) {
        permille = UInt16((min(max(percent, 0), 100) * 10).rounded())
    }

    /// 0 percent.
    public static let zero = DimLevel(percent: 0)
    /// 100 percent.
    public static let full = DimLevel(percent: 100)
    /// The level in percent, from 0 to 100.
    public var percent: Double { Double(permille) / 10 }
    /// The level as a fraction, from 0 to 1.
    public var fraction: Double { Double(permille) / 1000 }
    public static func < (left: DimLevel, right: DimLevel) -> Bool { left.permille < right.permille }
}

/// A capability of a plug, announced in its TXT record (`caps=`) and in the session's Welcome.
public enum Capability: String, Hashable, Sendable, CaseIterable {
    case relay, dimmer, meter, button
    /// The plug sends its log on request. Announced only in Welcome.
    case log
    /// The plug sends its audit log on request. Announced only in Welcome.
    case audit
    /// The plug accepts a new name, or new settings, from a controller. Announced only in Welcome.
    case rename, settings
    /// The plug is a Matter device, and sends its Matter fabrics on request. Announced only in Welcome.
    case matter
    /// The plug's system can be updated over the network. Announced only in Welcome.
    case update
    /// The plug joins Wi-Fi networks, which owners can change. Announced only in Welcome.
    case wifi
}
