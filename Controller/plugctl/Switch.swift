import ArgumentParser
import PlugClient
import PlugModel
import Presentation

struct On: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on",
        abstract: "Turn plugs on.",
        discussion: """
            Examples:
              plugctl on "Living Room Lamp"
              plugctl on Fan --off-after 10m
            """)

    @OptionGroup var command: CommandOptions
    @Option(parsing: .unconditional, help: "Turn the plug off again after this long, at least 1s.")
    var offAfter: TimeSpan?

    func validate() throws {
        guard offAfter.map({ $0.duration >= .seconds(1) }) ?? true else {
            throw ValidationError("--off-after must be at least 1s")
        }
    }

    func run() async throws {
        let autoOff = offAfter?.duration
        let end = offAfter.map { "; off in \($0)" }
        let text: (CommandRecord) -> String = { record in end.map { "\(record.plug): on\($0)" } ?? record.text }
        try await command.output.send(to: command.names, telling: text) { _ in .setRelay(on: true, autoOff: autoOff) }
    }
}

struct Off: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "off",
        abstract: "Turn plugs off.", discussion: "Example: plugctl off \"Living Room Lamp\" Television")

    @OptionGroup var command: CommandOptions

    func run() async throws {
        try await command.send { _ in .setRelay(on: false, autoOff: nil) }
    }
}

struct Toggle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle",
        abstract: "Toggle plugs: on if they are off, off if they are on.", discussion: "Example: plugctl toggle Lamp"
    )

    @OptionGroup var command: CommandOptions

    func run() async throws {
        try await command.send { state in .setRelay(on: !state.relayOn, autoOff: nil) }
    }
}

struct Dim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dim",
        abstract: "Dim a plug to a level.",
        discussion: """
            Examples:
              plugctl dim "Ceiling Light" 30%
              plugctl dim "Ceiling Light" 100% --over 10s
            """)

    @Argument(help: "The plug's name.")
    var name: String
    @Argument(help: "The level, 0% to 100%.")
    var level: Percent
    @Option(parsing: .unconditional, help: "Duration of the transition, at most 1h.")
    var over = TimeSpan(.zero)
    @OptionGroup var output: CommandOutput

    func validate() throws {
        guard over.duration <= .seconds(3600) else { throw ValidationError("--over must be at most 1h") }
    }

    /// Returns an error if the level is negative. The parser takes such an argument for an option, and reports that the
    /// level is missing.
    static func negativeLevel(in arguments: [String]) -> ValidationError? {
        guard arguments.dropFirst().first == configuration.commandName else { return nil }
        let wrong = arguments.first { $0.hasPrefix("-") && $0.hasSuffix("%") && Double($0.dropLast()) != nil }
        return wrong.map { ValidationError("the level is \($0), but it must be between 0% and 100%") }
    }

    func run() async throws {
        let command = PlugCommand.setLevel(DimLevel(percent: level.value), transition: over.duration)
        // The plug answers when the transition begins, so its state does not show the level yet.
        let (target, span) = (level.text, over)
        let text: (CommandRecord) -> String =
            span.duration > .zero ? { "\($0.plug): \($0.dimming) to \(target) over \(span)" } : \.text
        try await output.send(to: [name], telling: text) { _ in command }
    }
}
