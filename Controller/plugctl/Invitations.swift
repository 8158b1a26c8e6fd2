import ArgumentParser
import PlugClient
import Presentation

struct InvitationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invitations",
        abstract: "List the open invitations of a plug, or revoke one.",
        discussion: """
            This requires the owner role. An invitation ends when it is used, after a day, when the plug restarts or gets a new setup code, and when
            its author is removed, loses the owner role or uses a new key.

            Examples:
              plugctl invitations Lamp
              plugctl invitations Lamp --revoke 2
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Option(help: "Revoke the invitation with this number.")
    var revoke: UInt32?
    @Flag(help: "One JSON object per invitation: plug, number, role, seconds, validSeconds, author, self.")
    var json = false

    func run() async throws {
        try await network.withConnected(name) { plug, _ in
            try await refusable(plug.name) {
                guard var list = try await plug.invitations() else { throw CLIError.unanswered(plug.name) }
                if let revoke {
                    guard list.contains(where: { $0.number == revoke }) else {
                        throw CLIError(
                            "\(plug.name) has no open invitation \(revoke)\nhint: `plugctl invitations \"\(name)\"` lists them"
                        )
                    }
                    guard let left = try await plug.revokeInvitation(revoke) else {
                        throw CLIError.unanswered(plug.name)
                    }
                    list = left
                }
                for record in list.map({ OpenInvitationRecord($0, plug: plug.name) }) {
                    if json { Output.json(record) } else { Output.safeLine(record.text) }
                }
                if list.isEmpty, !json { Output.safeLine("\(plug.name) has no open invitations.") }
            }
        }
    }
}
