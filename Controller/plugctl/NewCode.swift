import ArgumentParser
import PlugModel
import Presentation
import QRCode

struct NewCode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-code",
        abstract: "Give a plug another setup code: the one on its label is dead then.",
        discussion: """
            Only an owner may. Keep what it prints as you would keep the label: nobody else knows the code, and only the plug's own machine
            shows it again (`plugd identity`). Who is paired stays so. What a reset does about it, the plug's configuration says.

            Examples:
              plugctl new-code Lamp
              plugctl new-code Lamp --plain
            """)

    @OptionGroup var network: NetworkOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Flag(help: "Only the code.")
    var plain = false
    @Flag(help: "As a JSON object: plug, id, code, scanned.")
    var json = false

    func validate() throws {
        guard !json || !plain else { throw ValidationError("--json and --plain do not go together") }
    }

    func run() async throws {
        try await network.withConnected(name) { plug, description in
            var random = SystemRandomNumberGenerator()
            let code = SetupCode(drawnFrom: &random)
            let record = SetupCodeRecord(code, plug: plug.name, id: description.id)
            guard try await refusable(plug.name, { try await plug.changeCode(to: code) }) == true else {
                throw Complaint(
                    "\(plug.name) ended the connection before it answered, so its code is the one before or another\n"
                        + "hint: do it again")
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
