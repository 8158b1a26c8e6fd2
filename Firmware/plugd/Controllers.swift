import ArgumentParser
import PlugService

struct Controllers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "controllers",
        abstract: "Show who is paired with a running plug, and remove somebody.",
        discussion: """
            Each line has the beginning of the controller's fingerprint, its role and its name. The last owner stays: `plugd reset` makes the
            plug forget everybody.

            Examples:
              plugd controllers --state /tmp/lamp
              plugd controllers --state /tmp/lamp --remove 3f9a
            """)

    @OptionGroup var plug: DirectoryOptions
    @Option(parsing: .unconditional, help: "Remove the controller whose fingerprint begins so.")
    var remove: String?

    func run() async throws {
        try await askPanel(remove.map { .remove($0) } ?? .controllers, at: plug.directories)
    }
}
