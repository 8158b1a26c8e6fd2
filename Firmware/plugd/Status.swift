import ArgumentParser
import PlugService

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what a running plug does, as one line of JSON.",
        discussion: "Example: plugd status --state /tmp/lamp")

    @OptionGroup var plug: StateOption

    func run() async throws {
        try await askPanel(.status, stateDirectory: plug.stateDirectory)
    }
}

/// Prints the answer.
func askPanel(_ request: PanelRequest, stateDirectory: String) async throws {
    print(try await PanelClient.ask(request, stateDirectory: stateDirectory))
}
