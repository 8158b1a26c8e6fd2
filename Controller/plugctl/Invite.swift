import ArgumentParser
import PlugModel
import Presentation
import QRCode

struct Invite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Create a code with which another controller can pair with a plug once.",
        discussion: """
            Enter the code at the prompt of `plugctl pair`, in place of the one on the plug's label. It is valid for one pairing
            within a day and becomes invalid when the plug restarts. The time in --for is counted while the plug has power.

            Examples:
              plugctl invite Lamp
              plugctl invite Lamp --as viewer --for 2d
              plugctl invite "Guest Room Heater" --as guest --for 8h --plain
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @OptionGroup var grant: GrantOptions
    @Flag(help: "Print only the code.")
    var plain = false
    @Flag(help: "Print a JSON object: plug, id, role, seconds, validSeconds, code, scanned.")
    var json = false

    func validate() throws {
        guard !json || !plain else { throw ValidationError("--json and --plain cannot be combined") }
        _ = try grant.grant()
    }

    func run() async throws {
        let grant = try grant.grant()
        try await network.withConnected(name) { plug, description in
            var random = SystemRandomNumberGenerator()
            let code = SetupCode(drawnFrom: &random)
            let time = try await refusable(plug.name) { try await plug.invite(with: code, as: grant) }
            guard let time else { throw CLIError.unanswered(plug.name) }
            let record = InvitationRecord(code, as: grant, valid: time, plug: plug.name, id: description.id)
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
