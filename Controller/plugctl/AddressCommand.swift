import ArgumentParser
import PlugClient
import PlugModel
import Presentation

struct AddressCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "address",
        abstract: "Show, store or remove the address of a paired plug in another network.",
        discussion: """
            Multicast DNS ends at the router. All commands and the daemon of this user connect to a plug at its stored address if the plug
            does not answer in the local network. The plug needs a fixed port: port in [network] of its plugd.toml. The address grants
            nothing: the plug must still prove the key that it had when it was paired. The command contacts no plug.

            Examples:
              plugctl address
              plugctl address Lamp lamp.example.org
              plugctl address Lamp [2001:db8::7]:7001
              plugctl address Lamp --clear
            """)

    @Argument(help: "The plug's name. (default: all plugs with a stored address)")
    var name: String?
    @Argument(
        help: ArgumentHelp(
            "The host name or IP address, with port 7001 unless a port follows. (default: show the stored address)",
            valueName: "host[:port]"),
        transform: PlugAddress.init(argument:))
    var address: PlugAddress?
    @Flag(help: "Remove the stored address.")
    var clear = false
    @Flag(help: "One JSON object per plug: plug, id, address (omitted if none is stored).")
    var json = false

    func validate() throws {
        guard !clear || name != nil && address == nil else {
            throw ValidationError("--clear requires the name of a plug, and no address")
        }
    }

    func run() async throws {
        try await saying {
            let plugs = PairedPlugs()
            let names = try plugs.names()
            guard let name else {
                let addresses = try plugs.addresses()
                let stored = names.filter { addresses[$0.key] != nil }.sorted { $0.value < $1.value }
                for (id, name) in stored { show(name, id, addresses[id]) }
                if stored.isEmpty { printError("no plug has a stored address") }
                return
            }
            if let shared = SharedPlugName(name, among: names) { throw shared }
            guard case .plug(let id) = PlugNameOwner(of: name, among: names) else {
                throw CLIError(
                    """
                    no plug is paired as "\(name)"
                    hint: run plugctl pair "\(name)" --address HOST:PORT with the code on its label
                    """)
            }
            if clear || address != nil { try await plugs.setAddress(address, of: id) }
            show(names[id] ?? name, id, try plugs.addresses()[id])
        }
    }

    private func show(_ name: String, _ id: PlugID, _ address: PlugAddress?) {
        let record = AddressRecord(plug: name, id: id.rawValue, address: address.map { "\($0)" })
        if json { Output.json(record) } else { Output.safeLine(record.text) }
    }
}

/// A paired plug in the output of `plugctl address`.
struct AddressRecord: Encodable {
    let plug: String
    let id: String
    let address: String?

    var text: String { "\(plug): \(address ?? "no stored address")" }
}
