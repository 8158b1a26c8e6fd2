public import PlugModel

/// What `plugctl rename --json` prints.
public struct RenameRecord: Codable, Hashable, Sendable {
    /// What it was called.
    public var plug: String
    /// What it is called now: the name that was asked for, or one with a number where another plug has that.
    public var name: String

    public init(plug: String, name: String) {
        self.plug = plug
        self.name = name
    }

    /// For a person.
    public func text(wanted: String) -> String {
        let why = name == wanted ? "" : " (another plug is called \"\(wanted)\")"
        return "\(plug): its name is \"\(name)\" now\(why)"
    }
}

/// What `plugctl set --json` prints.
public struct SettingsRecord: Codable, Hashable, Sendable {
    public var plug: String
    /// What the relay does when power returns: off, on, last or locked-on.
    public var powerOn: String
    /// Seconds after which it turns off again; 0: it does not.
    public var autoOff: Double
    /// W; left out where there is no limit.
    public var powerLimit: Double?

    public init(plug: String, _ settings: RemoteSettings) {
        self.plug = plug
        powerOn = settings.powerOn.rawValue
        autoOff = settings.autoOff.map { Double($0 / .milliseconds(1)) / 1000 } ?? 0
        powerLimit = settings.powerLimit.map { Double($0) / 10 }
    }

    /// For a person.
    public var lines: [String] {
        [
            "\(plug)", "  power-on     \(powerOn)",
            "  auto-off     \(autoOff > 0 ? "\(number(autoOff)) s" : "never")",
            "  power-limit  \(powerLimit.map { "\(number($0)) W" } ?? "none")",
        ]
    }
}

extension CommandRecord {
    /// For a person who looks for the plug.
    public var identifyText: String { "\(plug): its light blinks for ten seconds" }
}
