import ArgumentParser
import PlugClient
import PlugModel
import Presentation
import Terminal

struct Reset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Set a plug back to factory state, for somebody else to have it; or reset what tripped.",
        discussion: """
            With --protection: a plug that turned itself off, because of too much power or heat say, stays off until somebody
            resets it, here or by its button. It forgets nothing, and stays off until it is turned on.

            Without: the plug forgets everybody who is paired with it, its key, and what it measured. The setup
            code on its label is good again, unless its configuration says that a new one is drawn. Holding its button for 15 seconds
            does the same.

            Examples:
              plugctl reset Heater --protection
              plugctl reset Lamp
              plugctl reset Lamp --yes
            """)

    @Argument(help: "The plug's name.")
    var name: String
    @Flag(help: "Only reset what tripped, so that the plug can be turned on again.")
    var protection = false
    @Flag(help: "Do not ask.")
    var yes = false
    @OptionGroup var output: CommandOutput

    func validate() throws {
        guard protection || !output.json else { throw ValidationError("--json goes with --protection") }
    }

    func run() async throws {
        if protection {
            return try await output.send(to: [name], telling: \.resetText) { _ in .resetProtection }
        }
        try await saying { try confirm() }
        try await output.network.withConnected(name) { plug, description in
            let end = try await refusable(plug.name) { try await plug.factoryReset() }
            guard end == .factoryReset else {
                throw Complaint(
                    "\(plug.name): \(end)\nhint: `plugctl info \"\(plug.name)\"` shows whether it still knows you")
            }
            try await PairedPlugs().remove(description.id)
            Output.safeLine("\(plug.name): set back to factory state, and forgotten here")
        }
    }

    /// Asks the user before the plug is connected, because the answer may take long.
    private func confirm() throws {
        guard !yes else { return }
        guard TerminalDevice.standardInput.isTerminal else {
            throw Complaint("nothing was reset: nobody is there to be asked\nhint: --yes, if you are sure")
        }
        TerminalDevice.standardError.write(Array("Type the plug's name to reset it: ".utf8))
        guard readLine() == name else {
            throw Complaint("nothing was reset: that is not \"\(name)\"\nhint: type the name as in the command")
        }
    }
}
