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

/// Prints the answer, or the refusal on standard error with exit status 1.
func askPanel(_ request: PanelRequest, stateDirectory: String) async throws {
    do {
        print(try await PanelClient.ask(request, stateDirectory: stateDirectory))
    } catch {
        complain("\(error)")
        throw ExitCode.failure
    }
}
