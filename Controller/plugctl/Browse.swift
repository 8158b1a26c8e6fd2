import ArgumentParser
import LinuxNetwork
import PlugClient
import Presentation
import ServiceDiscovery

struct Browse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show plugs as they come, change and go.",
        discussion: """
            It is live and goes on until interrupted; there is nothing to refresh.

            Examples:
              plugctl browse
              plugctl browse --json --for 3s
            """)

    @OptionGroup var network: NetworkOptions
    @Flag(help: "One JSON object a line: event, name, type, domain, interface, txt.")
    var json = false
    @Option(name: .customLong("for"), help: "Stop after this long, such as 5s.")
    var limit: TimeSpan?

    func run() async throws {
        let json = json
        try await network.withClient { client in
            try await untilInterrupted(for: limit) {
                for await event in client.browse() {
                    let record = BrowseRecord(event.change, interfaceName: interfaceName)
                    guard json ? Output.json(record) : Output.safeLine(record.text) else { return }
                }
            }
        }
    }
}
