import ArgumentParser
import PlugModel
import Presentation
import QRCode

struct NewCode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-code",
        abstract: "Replace a plug's setup code; the code on its label becomes invalid.",
        discussion: """
            This requires the owner role. Keep the printed code safe: it is not stored on this machine, and only `plugd identity` on the
            plug shows it again. Existing pairings are kept. The plug's configuration determines whether a factory reset restores the
            code on the label.

            Examples:
              plugctl new-code Lamp
              plugctl new-code Lamp --plain
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Flag(help: "Print only the code.")
    var plain = false
    @Flag(help: "Print a JSON object: plug, id, code, scanned.")
    var json = false

    func validate() throws {
        guard !json || !plain else { throw ValidationError("--json and --plain cannot be combined") }
    }

    func run() async throws {
        try await network.withConnected(name) { plug, description in
            var random = SystemRandomNumberGenerator()
            let code = SetupCode(drawnFrom: &random)
            let record = SetupCodeRecord(code, plug: plug.name, id: description.id)
            guard try await refusable(plug.name, { try await plug.changeCode(to: code) }) == true else {
                throw CLIError(
                    "\(plug.name) closed the connection before it answered; its code may or may not have changed\n"
                        + "hint: run the command again")
            }
            if json {
                Output.json(record)
            } else if plain {
                Output.safeLine(record.code)
            } else {
                for line in QRCode(record.scanned)?.lines ?? [] { Output.line(line) }
                for line in record.lines { Output.safeLine(line) }
            }
        }
    }
}
