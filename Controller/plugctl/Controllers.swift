import ArgumentParser
import PlugClient
import PlugModel
import Presentation

struct Controllers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controllers",
        abstract: "Show who may command a plug, and remove somebody.",
        discussion: """
            Examples:
              plugctl controllers Lamp
              plugctl controllers Lamp --remove 3f9a
            """)

    @OptionGroup var network: NetworkOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Option(help: "Remove the controller of this name or fingerprint; the fingerprint's beginning is enough.")
    var remove: String?
    @Flag(help: "A JSON object for each: plug, name, fingerprint, connected, self.")
    var json = false

    func run() async throws {
        try await network.withConnected(name) { plug, _ in
            var list = await plug.controllers()
            if let remove, let known = list {
                list = await plug.removeController(fingerprint: try fingerprint(meant: remove, known))
            }
            guard let list else {
                throw Complaint("\(plug.name) ended the connection before it answered\nhint: try again")
            }
            for record in list.map({ ControllerRecord($0, plug: plug.name) }) {
                if json { Output.json(record) } else { Output.safeLine(record.text) }
            }
        }
    }

    private func fingerprint(meant text: String, _ list: [PairedControllerEntry]) throws -> String {
        let meant = list.filter { $0.name == text || $0.fingerprint.hasPrefix(text.lowercased()) }
        guard meant.count == 1, !text.isEmpty else {
            throw Complaint(
                "\(meant.isEmpty ? "no controller" : "more than one") is meant by \"\(text)\"\n"
                    + "hint: `plugctl controllers \"\(name)\"` shows their names and fingerprints")
        }
        guard !meant[0].isAsker else {
            throw Complaint("this is the controller that you use now\nhint: plugctl unpair \"\(name)\"")
        }
        return meant[0].fingerprint
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
            try await network.withConnected(name) { plug, _ in
                guard let own = await plug.controllers()?.first(where: \.isAsker) else {
                    throw Complaint("\(plug.name) ended the connection before it answered\nhint: try again")
                }
                _ = await plug.removeController(fingerprint: own.fingerprint)
                try await forget(PairedPlugs(), named: plug.name)
            }
        }
    }

    private func forget(_ plugs: PairedPlugs, named exact: String? = nil) async throws {
        let name = exact ?? name
        guard let plug = try plugs.all().last(where: { $0.name == name }) else {
            throw Complaint(
                "no plug was paired as \"\(name)\"\nhint: its name was another then; `plugctl browse` shows its id")
        }
        try await plugs.remove(plug.id)
        Output.safeLine("\(name): forgotten")
    }
}
