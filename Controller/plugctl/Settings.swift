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

            The value "configured" restores the value of the plug's configuration.

            Examples:
              plugctl set Heater
              plugctl set Heater power-limit 2kW auto-off 3h
              plugctl set Freezer power-on on
              plugctl set Heater auto-off configured
            """)

    @OptionGroup var network: NetworkOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Argument(
        help: ArgumentHelp(
            "Settings and their new values. (default: show the current settings)", valueName: "key value")
    )
    var words: [String] = []
    @Flag(help: "Print a JSON object: plug, powerOn, autoOff (seconds, 0 for never), powerLimit (W, if there is one).")
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
        case _:
            throw ValidationError("unknown setting \"\(key)\"; the settings are power-on, auto-off and power-limit")
        }
    }

    private static func powerOn(_ text: String) throws -> PowerOnState {
        guard let state = PowerOnState(rawValue: text), state != .lockedOn else {
            throw ValidationError("power-on must be off, on, last or configured, not \"\(text)\"")
        }
        return state
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
