import ArgumentParser
import PlugService

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the status of a running plug as one line of JSON.",
        discussion: "Example: plugd status --state /tmp/lamp")

    @OptionGroup var plug: DirectoryOptions

    func run() async throws {
        try await askPanel(.status, at: plug.directories)
    }
}

/// Sends a request to the panel and prints the answer.
func askPanel(_ request: PanelRequest, at plug: PlugDirectories) async throws {
    print(try await PanelClient.ask(request, at: plug))
}
