public import ArgumentParser
import PlugClient
public import PlugModel
import PlugProtocol
import PlugTransport
import Presentation

struct Controllers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controllers",
        abstract: "Show who may do what at a plug, change it, and remove somebody.",
        discussion: """
            Only an owner may. The first controller that is paired with a plug is an owner, and so is each that is paired with the code
            on its label; others are invited (`plugctl invite`). The last owner stays until a reset.

            Examples:
              plugctl controllers Lamp
              plugctl controllers Lamp --change Tablet --as viewer
              plugctl controllers Lamp --remove 3f9a
            """)

    @OptionGroup var network: NetworkOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Option(
        parsing: .unconditional,
        help: "Remove the controller of this name or fingerprint; the fingerprint's beginning is enough.")
    var remove: String?
    @Option(parsing: .unconditional, help: "Give the controller of this name or fingerprint the role of --as.")
    var change: String?
    @OptionGroup var grant: GrantOptions
    @Flag(help: "A JSON object for each: plug, name, fingerprint, role, secondsLeft, connected, self.")
    var json = false

    func validate() throws {
        guard remove == nil || change == nil else { throw ValidationError("--remove and --change do not go together") }
        guard (change != nil) == (grant.role != nil) else { throw ValidationError("--change and --as go together") }
    }

    func run() async throws {
        let grant = try grant.role == nil ? nil : grant.grant()
        try await network.withConnected(name) { plug, _ in
            try await refusable(plug.name) {
                var list = try await plug.controllers()
                if let remove, let known = list {
                    let controller = try self.controller(remove, in: known)
                    guard !controller.isAsker else {
                        throw Complaint("this is the controller that you use now\nhint: plugctl unpair \"\(name)\"")
                    }
                    list = try await plug.removeController(fingerprint: controller.fingerprint)
                }
                if let change, let grant, let known = list {
                    let controller = try self.controller(change, in: known)
                    list = try await plug.setRole(of: controller.fingerprint, to: grant)
                }
                guard let list else { throw Complaint.unanswered(plug.name) }
                for record in list.map({ ControllerRecord($0, plug: plug.name) }) {
                    if json { Output.json(record) } else { Output.safeLine(record.text) }
                }
            }
        }
    }

    private func controller(_ text: String, in list: [PairedControllerEntry]) throws -> PairedControllerEntry {
        let meant = list.filter { $0.name == text || $0.fingerprint.hasPrefix(text.lowercased()) }
        guard meant.count == 1, !text.isEmpty else {
            throw Complaint(
                "\(meant.isEmpty ? "no controller" : "more than one") is meant by \"\(text)\"\n"
                    + "hint: `plugctl controllers \"\(name)\"` shows their names and fingerprints")
        }
        return meant[0]
    }
}

/// The options for a role and its end.
struct GrantOptions: ParsableArguments {
    @Option(
        name: .customLong("as"),
        help: "owner (everything), user (switches and follows), viewer (follows) or guest (a user for a time).")
    var role: Role?
    @Option(
        name: .customLong("for"),
        parsing: .unconditional,
        help: "For how long, while the plug has power: 2d, 8h. A guest needs it. (default: until it is removed)")
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
        throw Complaint("\(plug): \(refusal.detail)" + (refusal.code.hint(for: plug).map { "\nhint: \($0)" } ?? ""))
    }
}

extension Complaint {
    static func unanswered(_ plug: String) -> Complaint {
        Complaint("\(plug) ended the connection before it answered\nhint: try again")
    }
}

struct Unpair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpair",
        abstract: "Have a plug and this controller forget each other.",
        discussion: """
            Examples:
              plugctl unpair Lamp
              plugctl unpair Lamp --here-only
            """)

    @OptionGroup var network: NetworkOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Flag(help: "Forget the plug without asking it: for one that is gone.")
    var hereOnly = false

    func run() async throws {
        if hereOnly {
            try await saying { try await forget(PairedPlugs()) }
        } else {
            try await network.withConnected(name) { plug, description in
                let own = try TransportIdentity.ofThisController().publicKey.fingerprint
                do {
                    _ = try await plug.removeController(fingerprint: own)
                } catch let refusal as Refusal {
                    throw Complaint(
                        "\(plug.name): \(refusal.detail)\nhint: `plugctl reset \"\(plug.name)\"` makes it forget everybody; "
                            + "with --here-only this controller forgets the plug, which still knows it")
                }
                try await PairedPlugs().remove(description.id)
                Output.safeLine("\(plug.name): forgotten")
            }
        }
    }

    private func forget(_ plugs: PairedPlugs) async throws {
        let names = try plugs.names()
        if let shared = SharedPlugName(name, among: names) { throw shared }
        guard case .plug(let id) = PlugNameOwner(of: name, among: names) else {
            throw Complaint(
                "no plug was paired as \"\(name)\"\nhint: its name was another then; `plugctl browse` shows its id")
        }
        try await plugs.remove(id)
        Output.safeLine("\(names[id] ?? name): forgotten")
    }
}
