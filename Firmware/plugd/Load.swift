import ArgumentParser
import PlugService

struct Load: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Change the load of a plug with simulated parts.",
        discussion: """
            LOAD is an appliance (television, amplifier, refrigerator, washing-machine, kettle, lamp, laptop), a mode of the
            current appliance (on, standby, off), a power such as "60 W", or unplugged.

            Example: plugd load --state /tmp/tv on
            """)

    @OptionGroup var plug: DirectoryOptions

    @Argument(help: "The appliance, its mode, or a power.")
    var load: [String]

    func run() async throws {
        try await askPanel(.load(load.joined(separator: " ")), at: plug.directories)
    }
}
