import ArgumentParser
import PlugService

struct RotateKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Replace the key of a running plug, once its controllers know the new one.",
        discussion: """
            The plug sends its next key to every controller that connects. When all of them have stored it, the plug starts to use it,
            and no controller has to pair again. After a day the plug waits only for owners. With --now it does not wait: controllers that
            have not stored the next key have to pair again.

            Example: plugd rotate-key --state /tmp/lamp
            """)

    @OptionGroup var plug: DirectoryOptions
    @Flag(help: "Do not wait for controllers that have not stored the next key.")
    var now = false

    func run() async throws { print(try await PanelClient.ask(.rotateKey(now: now), at: plug.directories)) }
}
