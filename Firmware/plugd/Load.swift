import ArgumentParser
import PlugService

struct Load: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Change what is plugged into a plug with simulated parts.",
        discussion: """
            LOAD is an appliance (television, amplifier, refrigerator, washing-machine, kettle, lamp, laptop), a mode of the
            one that is plugged in (on, standby, off), watts such as "60 W", or unplugged.

            Example: plugd load --state /tmp/tv on
            """)

    @OptionGroup var plug: DirectoryOptions

    @Argument(help: "What to plug in, or how to set it.")
    var load: [String]

    func run() async throws {
        try await askPanel(.load(load.joined(separator: " ")), at: plug.directories)
    }
}
