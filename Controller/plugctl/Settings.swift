import ArgumentParser
import PlugClient
import PlugModel
import Presentation

struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Show or change a plug's settings.",
        discussion: """
            The plug keeps its settings across restarts and until a factory reset. They override the plug's configuration.

              power-on     state of the relay when power returns: off, on or last (the previous state)
              auto-off     turns the plug off this long after it was turned on, 1s to 30d, or never
              power-limit  turns the plug off and locks it after some seconds above this power, such as 2000W; the
                           plug's configuration sets the maximum
              child-lock   on turns the plug's button off; only holding it for 15 seconds, which resets the plug to
                           factory state, still has an effect, and also ends the lock
              light-off    time of day, in the plug's time zone, in which its status light is dark, such as
                           22:00-07:00, or never; the light still shows the pairing window, identify, the warning
                           of a reset and a tripped protection

            The value "configured" restores the value of the plug's configuration.

            Examples:
              plugctl set Heater
              plugctl set Heater power-limit 2kW auto-off 3h
              plugctl set Freezer power-on on
              plugctl set Lamp child-lock on
              plugctl set Lamp light-off 22:00-07:00
              plugctl set Heater auto-off configured
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Argument(
        help: ArgumentHelp(
            "Settings and their new values. (default: show the current settings)", valueName: "key value")
    )
    var words: [String] = []
    @Flag(
        help: """
            Print a JSON object: plug, powerOn, autoOff (seconds, 0 for never), powerLimit (W, if there is one), childLock, \
            lightOff.
            """)
    var json = false

    func validate() throws { _ = try SettingsChange(words: words) }

    func run() async throws {
        let change = try SettingsChange(words: words)
        try await network.withConnected(name) { plug, description in
            guard description.settings != nil else {
                throw CLIError("\(plug.name): its firmware does not support settings\nhint: update the firmware")
            }
            if change != SettingsChange() { try await plug.obey(.configure(change)) }
            // The settings in force, which the plug sent with its answer.
            guard let settings = await plug.settings else { return }
            let record = SettingsRecord(plug: plug.name, settings)
            if json { Output.json(record) } else { record.lines.forEach { Output.safeLine($0) } }
        }
    }
}

extension SettingsChange {
    /// Parses pairs of a setting and its value, such as `auto-off 3h`.
    ///
    /// - Throws: `ValidationError`.
    init(words: [String]) throws {
        self.init()
        guard words.count.isMultiple(of: 2) else {
            throw ValidationError("each setting needs a value, such as: auto-off 3h")
        }
        for index in stride(from: 0, to: words.count, by: 2) { try parse(words[index], words[index + 1]) }
    }

    private mutating func parse(_ key: String, _ text: String) throws {
        let isConfigured = text == "configured"
        switch key {
        case "power-on":
            powerOn = isConfigured ? .asConfigured : .value(try Self.powerOn(text))
        case "auto-off":
            autoOff = isConfigured ? .asConfigured : .value(try Self.time(text))
        case "power-limit":
            powerLimit = isConfigured ? .asConfigured : .value(try Self.power(text))
        case "child-lock":
            childLock = isConfigured ? .asConfigured : .value(try Self.switched(text, key))
        case "light-off":
            lightOff = isConfigured ? .asConfigured : .value(try Self.span(text))
        case _:
            throw ValidationError(
                "unknown setting \"\(key)\"; the settings are power-on, auto-off, power-limit, child-lock and light-off"
            )
        }
    }

    private static func powerOn(_ text: String) throws -> PowerOnState {
        guard let state = PowerOnState(rawValue: text), state != .lockedOn else {
            throw ValidationError("power-on must be off, on, last or configured, not \"\(text)\"")
        }
        return state
    }

    private static func switched(_ text: String, _ key: String) throws -> Bool {
        guard text == "on" || text == "off" else {
            throw ValidationError("\(key) must be on, off or configured, not \"\(text)\"")
        }
        return text == "on"
    }

    private static func span(_ text: String) throws -> DailySpan {
        guard let span = DailySpan(text: text) else {
            throw ValidationError(
                "light-off must be a begin and an end such as 22:00-07:00, never or configured, not \"\(text)\"")
        }
        return span
    }

    private static func time(_ text: String) throws -> Duration {
        if text == "never" { return .zero }
        guard let time = TimeSpan(argument: text)?.duration, (.seconds(1) ... .seconds(30 * 86_400)).contains(time)
        else { throw ValidationError("auto-off must be 1s to 30d, never or configured, not \"\(text)\"") }
        return time
    }

    /// Parses a power and returns it in deciwatts.
    private static func power(_ text: String) throws -> UInt32 {
        guard let power = Watts(argument: text), power.milliwatts > 0, power.milliwatts.isMultiple(of: 100) else {
            throw ValidationError("power-limit must be a power such as 2000W or 1.5kW, or configured, not \"\(text)\"")
        }
        return power.milliwatts / 100
    }
}
