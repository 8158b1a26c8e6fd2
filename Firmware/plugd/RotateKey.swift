import ArgumentParser
import PlugService

struct RotateKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Give a running plug another key, once its controllers know it.",
        discussion: """
            Every controller is told the next key as soon as it is connected, and stores it; when all of them have, the plug takes it, and
            nobody pairs anew. With --now it does not wait: controllers that were not connected since have to pair anew.

            Example: plugd rotate-key --state /tmp/lamp
            """)

    @OptionGroup var plug: DirectoryOptions
    @Flag(help: "Do not wait for controllers that do not know it yet.")
    var now = false

    func run() async throws { print(try await PanelClient.ask(.rotateKey(now: now), at: plug.directories)) }
}
