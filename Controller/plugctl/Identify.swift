import ArgumentParser
import PlugClient
import PlugModel
import Presentation

struct Identify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identify",
        abstract: "Blink the light of plugs for ten seconds, to find them.",
        discussion: "Example: plugctl identify \"Living Room Lamp\"")

    @OptionGroup var command: CommandOptions

    func run() async throws {
        try await command.output.send(to: command.names, telling: \.identifyText) { _ in .identify }
    }
}
