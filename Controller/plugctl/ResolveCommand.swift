import ArgumentParser
import LinuxNetwork
import PlugClient
import Presentation

struct Resolve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Show a plug's host name, port and addresses.",
        discussion: "Example: plugctl resolve Lamp --json")

    @OptionGroup var network: NetworkOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Flag(help: "Print a JSON object: name, host, port, addresses.")
    var json = false

    func run() async throws {
        try await network.withClient(connects: false) { client in
            let found = try await client.findAnnounced(name, within: network.wait.duration)
            let service = try await client.resolve(found, within: network.wait.duration)
            let record = ResolveRecord(service, interfaceName: interfaceName)
            if json { Output.json(record) } else { Output.safeLine(record.text) }
        }
    }
}
