public import Metering

/// What a plug is doing now. The newest state replaces all before it.
public struct PlugState: Hashable, Sendable {
    public var relayOn: Bool
    /// Nil for a plug without a dimmer.
    public var level: DimLevel?
    /// Nil until the meter has answered, and again when it stopped answering.
    public var reading: Reading?
    /// What locked the relay open, until somebody resets it deliberately; nil: nothing.
    public var tripped: Protection?

    public init(
        relayOn: Bool, level: DimLevel? = nil, reading: Reading? = nil, tripped: Protection? = nil
    ) {
        self.relayOn = relayOn
        self.level = level
        self.reading = reading
        self.tripped = tripped
    }
}

/// A dim level in thousandths of full, 0 to 1000. It is kept while the relay is off.
public struct DimLevel: Hashable, Comparable, Sendable {
    public let permille: UInt16

    /// Nil above 1000.
    public init?(permille: Int) {
        guard (0...1000).contains(permille) else { return nil }
        self.permille = UInt16(permille)
    }

    /// The nearest level to a percentage; what lies outside 0 to 100 is clamped.
    public init(percent: Double) {
        permille = UInt16((min(max(percent, 0), 100) * 10).rounded())
    }

    public static let zero = DimLevel(percent: 0)
    public static let full = DimLevel(percent: 100)
    public var percent: Double { Double(permille) / 10 }
    /// 0 to 1.
    public var fraction: Double { Double(permille) / 1000 }
    public static func < (left: DimLevel, right: DimLevel) -> Bool { left.permille < right.permille }
}

/// What a plug can do; it says so in its TXT record (`caps=`) and in the session's Welcome.
public enum Capability: String, Hashable, Sendable, CaseIterable {
    case relay, dimmer, meter, button
    /// It tells its log to whoever asks. Only Welcome says so: nobody looks for a plug by it.
    case log
    /// It tells its audit log to whoever asks. Only Welcome says so.
    case audit
    /// It takes another name from a controller, and other settings. Only Welcome says so.
    case rename, settings
}
