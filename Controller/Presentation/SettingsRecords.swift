public import PlugModel

/// The output of `plugctl rename --json`.
public struct RenameRecord: Codable, Hashable, Sendable {
    /// The previous name.
    public var plug: String
    /// The new name: the requested name, with a number added if another plug already has that name.
    public var name: String

    /// Creates a record.
    public init(plug: String, name: String) {
        self.plug = plug
        self.name = name
    }

    /// Text for the user.
    ///
    /// - Parameter wanted: the requested name.
    public func text(wanted: String) -> String {
        let why = name == wanted ? "" : " (another plug already has the name \"\(wanted)\")"
        return "\(plug): renamed to \"\(name)\"\(why)"
    }
}

/// The output of `plugctl set --json`.
public struct SettingsRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The relay's state when power returns: off, on, last or locked-on.
    public var powerOn: String
    /// The seconds after which the relay switches off; 0 for never.
    public var autoOff: Double
    /// The power limit in W; omitted without a limit.
    public var powerLimit: Double?
    /// True if the button is off; omitted if the plug has no button or its firmware does not know the setting.
    public var childLock: Bool?
    /// The time of day in which the light is dark, such as 22:00-07:00, or never; omitted if the plug has no light or
    /// its firmware does not know the setting.
    public var lightOff: String?

    /// Creates the record of a plug's settings.
    public init(plug: String, _ settings: RemoteSettings) {
        self.plug = plug
        powerOn = settings.powerOn.rawValue
        autoOff = settings.autoOff.map { Double($0 / .milliseconds(1)) / 1000 } ?? 0
        powerLimit = settings.powerLimit.map { Double($0) / 10 }
        childLock = settings.childLock
        lightOff = settings.lightOff?.description
    }

    /// Text for the user.
    public var lines: [String] {
        [
            "\(plug)", "  power-on     \(powerOn)",
            "  auto-off     \(autoOff > 0 ? "\(number(autoOff)) s" : "never")",
            "  power-limit  \(powerLimit.map { "\(number($0)) W" } ?? "none")",
        ] + (childLock.map { ["  child-lock   \($0 ? "on" : "off")"] } ?? [])
            + (lightOff.map { ["  light-off    \($0)"] } ?? [])
    }
}

extension CommandRecord {
    /// Text for the user who is locating the plug.
    public var identifyText: String { "\(plug): its light blinks for ten seconds" }
}
