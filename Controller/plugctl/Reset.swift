import ArgumentParser
import PlugClient
import PlugModel
import Presentation
import Terminal

struct Reset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Reset a plug to factory state, or reset its tripped protection.",
        discussion: """
            With --protection: a plug that turned itself off, for example because of overload or heat, stays locked until its protection is
            reset with this command or with its button. The plug keeps its pairings and data, and stays off until it is turned on.

            Without --protection: the plug erases its pairings, invitations, key, name, settings, events, audit log and measurements. The
            setup code on its label is valid again, unless its configuration requests a new code. Holding its button for 15 seconds does
            the same.

            Examples:
              plugctl reset Heater --protection
              plugctl reset Lamp
              plugctl reset Lamp --yes
            """)

    @Argument(help: "The plug's name.")
    var name: String
    @Flag(help: "Only reset the tripped protection, so that the plug can be turned on again.")
    var protection = false
    @Flag(help: "Do not ask for confirmation.")
    var yes = false
    @OptionGroup var output: CommandOutput

    func validate() throws {
        guard protection || !output.json else { throw ValidationError("--json requires --protection") }
    }

    func run() async throws {
        if protection {
            return try await output.send(to: [name], telling: \.resetText) { _ in .resetProtection }
        }
        try await saying { try confirm() }
        try await output.network.withConnected(name) { plug, description in
            let end = try await refusable(plug.name) { try await plug.factoryReset() }
            guard end == .factoryReset else {
                throw CLIError(
                    "\(plug.name): \(end)\nhint: `plugctl info \"\(plug.name)\"` shows whether it is still paired")
            }
            try await PairedPlugs().remove(description.id)
            Output.safeLine("\(plug.name): reset to factory state; its pairing is removed from this controller")
        }
    }

    /// Asks the user before the plug is connected, because the answer may take long.
    private func confirm() throws {
        guard !yes else { return }
        guard TerminalDevice.standardInput.isTerminal else {
            throw CLIError(
                "the plug was not reset: standard input is not a terminal, so it cannot be confirmed\nhint: use --yes")
        }
        let question = """
            The reset erases the plug's pairings, invitations, key, name, settings, events, audit log and measurements.
            Type the plug's name to reset it:\u{20}
            """
        TerminalDevice.standardError.write(Array(question.utf8))
        guard readLine() == name else {
            throw CLIError(
                "the plug was not reset: the typed name is not \"\(name)\"\nhint: type the name as in the command")
        }
    }
}
