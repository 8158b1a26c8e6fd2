public import ArgumentParser
import PlugClient
public import PlugModel
import PlugProtocol
import PlugTransport
import Presentation

struct Controllers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controllers",
        abstract: "List the controllers that are paired with a plug, change their roles, or remove one.",
        discussion: """
            This requires the owner role. A controller that is paired with the code on the plug's label is an owner; others are
            invited (`plugctl invite`). The last owner cannot be removed; only a factory reset does that.

            Examples:
              plugctl controllers Lamp
              plugctl controllers Lamp --change Tablet --as viewer
              plugctl controllers Lamp --remove 3f9a
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Option(
        parsing: .unconditional,
        help: "Remove the controller with this name or fingerprint (or beginning of a fingerprint).")
    var remove: String?
    @Option(parsing: .unconditional, help: "Give the controller with this name or fingerprint the role in --as.")
    var change: String?
    @OptionGroup var grant: GrantOptions
    @Flag(help: "One JSON object per controller: plug, name, fingerprint, role, secondsLeft, connected, self.")
    var json = false

    func validate() throws {
        guard remove == nil || change == nil else { throw ValidationError("--remove and --change cannot be combined") }
        guard (change != nil) == (grant.role != nil) else {
            throw ValidationError("--change and --as must be used together")
        }
    }

    func run() async throws {
        let grant = try grant.role == nil ? nil : grant.grant()
        try await network.withConnected(name) { plug, _ in
            try await refusable(plug.name) {
                var list = try await plug.controllers()
                if let remove, let known = list {
                    let controller = try self.controller(remove, in: known)
                    guard !controller.isAsker else {
                        throw CLIError("this is the controller you are using\nhint: use plugctl unpair \"\(name)\"")
                    }
                    list = try await plug.removeController(fingerprint: controller.fingerprint)
                }
                if let change, let grant, let known = list {
                    let controller = try self.controller(change, in: known)
                    list = try await plug.setRole(of: controller.fingerprint, to: grant)
                }
                guard let list else { throw CLIError.unanswered(plug.name) }
                for record in list.map({ ControllerRecord($0, plug: plug.name) }) {
                    if json { Output.json(record) } else { Output.safeLine(record.text) }
                }
            }
        }
    }

    private func controller(_ text: String, in list: [PairedControllerEntry]) throws -> PairedControllerEntry {
        let meant = list.filter { $0.name == text || $0.fingerprint.hasPrefix(text.lowercased()) }
        guard meant.count == 1, !text.isEmpty else {
            throw CLIError(
                "\(meant.isEmpty ? "no controller matches" : "several controllers match") \"\(text)\"\n"
                    + "hint: `plugctl controllers \"\(name)\"` shows their names and fingerprints")
        }
        return meant[0]
    }
}

/// The options for a role and its duration.
struct GrantOptions: ParsableArguments {
    @Option(
        name: .customLong("as"),
        help:
            "owner (full access), user (may switch and watch), viewer (may watch) or guest (a user for a limited time)."
    )
    var role: Role?
    @Option(
        name: .customLong("for"),
        parsing: .unconditional,
        help:
            "Duration of the access, such as 2d or 8h, counted while the plug has power. Required for a guest. (default: unlimited)"
    )
    var time: TimeSpan?

    func grant() throws -> Grant {
        do {
            let seconds = time.map { UInt32(clamping: $0.duration.components.seconds) }
            return try Grant(role ?? .user, seconds: seconds)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}

extension Role: ExpressibleByArgument {}

/// Runs the body and converts a refusal of the plug into an error for the user.
func refusable<Result>(_ plug: String, _ body: () async throws -> Result) async throws -> Result {
    do {
        return try await body()
    } catch let refusal as Refusal {
        throw CLIError("\(plug): \(refusal.detail)" + (refusal.code.hint(for: plug).map { "\nhint: \($0)" } ?? ""))
    }
}

extension CLIError {
    static func unanswered(_ plug: String) -> CLIError {
        CLIError("\(plug) closed the connection before it answered\nhint: try again")
    }
}

struct Unpair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpair",
        abstract: "Remove the pairing between a plug and this controller.",
        discussion: """
            Examples:
              plugctl unpair Lamp
              plugctl unpair Lamp --here-only
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Flag(help: "Forget the plug without contacting it, for a plug that no longer exists.")
    var hereOnly = false

    func run() async throws {
        if hereOnly {
            try await saying { try await forget(PairedPlugs()) }
        } else {
            try await network.withConnected(name) { plug, _ in
                let own = try TransportIdentity.ofThisController().publicKey
                do {
                    try await plug.unpair(own, from: PairedPlugs())
                } catch let refusal as Refusal {
                    throw CLIError(
                        "\(plug.name): \(refusal.detail)\nhint: `plugctl reset \"\(plug.name)\"` removes all its pairings; "
                            + "--here-only removes the plug only from this controller")
                }
                Output.safeLine("\(plug.name): forgotten")
            }
        }
    }

    private func forget(_ plugs: PairedPlugs) async throws {
        let names = try plugs.names()
        if let shared = SharedPlugName(name, among: names) { throw shared }
        guard case .plug(let id) = PlugNameOwner(of: name, among: names) else {
            throw CLIError(
                "no plug is paired as \"\(name)\"\nhint: it may be paired under a different name; `plugctl browse` shows its id"
            )
        }
        try await plugs.remove(id)
        Output.safeLine("\(names[id] ?? name): forgotten")
    }
}
