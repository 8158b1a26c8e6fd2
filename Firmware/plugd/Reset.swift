import ArgumentParser
import LinuxSystem
import PlugService

struct Reset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Reset the plug to factory state, whether plugd is running or not.",
        discussion: """
            The plug erases its pairings, its key and its measurements, and accepts pairing for ten minutes. It keeps its id, and the
            setup code on its label is valid again, unless code_after_reset in its configuration is "new". Holding the button for 15
            seconds does the same.

            Example: plugd reset --state /tmp/lamp
            """)

    @OptionGroup var plug: DirectoryOptions

    func run() async throws {
        do {
            print(try await PlugReset.perform(at: plug.directories))
        } catch let error as FileError {
            throw CLIError(error)
        }
    }
}
