import ArgumentParser
import PlugService

struct Controllers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controllers",
        abstract: "List the controllers that are paired with a running plug, or remove one.",
        discussion: """
            Each line has the beginning of the controller's fingerprint, its role and its name. The last owner cannot be removed;
            `plugd reset` removes all pairings.

            Examples:
              plugd controllers --state /tmp/lamp
              plugd controllers --state /tmp/lamp --remove 3f9a
            """)

    @OptionGroup var plug: DirectoryOptions
    @Option(parsing: .unconditional, help: "Remove the controller with this beginning of its fingerprint.")
    var remove: String?

    func run() async throws {
        try await askPanel(remove.map { .remove($0) } ?? .controllers, at: plug.directories)
    }
}
