import ArgumentParser
import DurableFiles
import PlugService

struct Reset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Set the plug back to factory state, whether it runs or not.",
        discussion: """
            It forgets everybody who is paired with it, its key, and what it measured, and lets itself be paired for ten minutes.
            Its id stays, and the setup code on its label is good again, unless code_after_reset in its configuration says "new". Holding
            the button for 15 seconds does the same.

            Example: plugd reset --state /tmp/lamp
            """)

    @OptionGroup var plug: DirectoryOptions

    func run() async throws {
        do {
            print(try await PlugReset.perform(at: plug.directories))
        } catch let error as FileError {
            throw Complaint(error)
        }
    }
}
