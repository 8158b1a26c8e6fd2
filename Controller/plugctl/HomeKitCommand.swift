import ArgumentParser
import PlugModel
import Presentation
import QRCode

struct HomeKitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "homekit",
        abstract: "Show the HomeKit setup code and HomeKit controllers of a plug, or remove controllers.",
        discussion: """
            This requires the owner role. HomeKit is off until [homekit] in plugd.toml turns it on. The first controller that pairs can add
            others, for the people who share the home. When the last administrator is removed, all controllers are removed.

            Examples:
              plugctl homekit Lamp
              plugctl homekit Lamp --code
              plugctl homekit Lamp --remove 5C2E81A0-6F4B-4C0B-9D0C-0B8E3C9B1D5E
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Option(parsing: .unconditional, help: "Remove the controller with this id; its sessions end at once.")
    var remove: String?
    @Flag(help: "Remove all controllers.")
    var removeAll = false
    @Flag(help: "Print only the setup code.")
    var code = false
    @Flag(
        help:
            "Print a JSON object: plug, id, setupCode, setupPayload, deviceID, controllers (each with id, admin, sessions)."
    )
    var json = false

    func validate() throws {
        guard !json || !code else { throw ValidationError("--json and --code cannot be combined") }
        guard remove == nil || !removeAll else {
            throw ValidationError("--remove and --remove-all cannot be combined")
        }
        if let remove, !(1...PlugWire.longestHomeKitIdentifier).contains(remove.utf8.count) {
            throw ValidationError("a controller's id has 1 to \(PlugWire.longestHomeKitIdentifier) bytes")
        }
    }

    func run() async throws {
        let order = removeAll ? HomeKitRequest.removeAll : remove.map { .remove(Array($0.utf8)) } ?? .ask
        try await network.withConnected(name) { plug, description in
            let report = try await refusable(plug.name) { try await plug.manageHomeKit(order) }
            guard let report else { throw CLIError.unanswered(plug.name) }
            let record = HomeKitRecord(report, plug: plug.name, id: description.id)
            if json {
                Output.json(record)
            } else if code {
                Output.safeLine(record.setupCode)
            } else {
                if record.controllers.isEmpty {
                    for line in QRCode(record.setupPayload)?.lines ?? [] { Output.line(line) }
                }
                for line in record.lines { Output.safeLine(line) }
            }
        }
    }
}
