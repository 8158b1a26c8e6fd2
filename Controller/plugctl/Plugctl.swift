import ArgumentParser
import Terminal

@main
struct Plugctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugctl",
        abstract: "Find, switch, dim and follow smart plugs, and run rules on them.",
        discussion: """
            Examples:
              plugctl browse
              plugctl on "Living Room Lamp"
              plugctl dim "Ceiling Light" 30% --over 2s
              plugctl watch Television --json

            Plugs are named as people name them; nothing has to be set up. With --json each line on standard output is one
            JSON object. Exit status: 0 done, 1 it failed, 2 not all of it could be done, 64 wrong usage.
            """,
        version: "0.1.0",
        subcommands: [
            Browse.self, Resolve.self, Info.self, On.self, Off.self, Toggle.self, Dim.self, Watch.self,
            ChartCommand.self, Rules.self, DaemonCommand.self,
        ])

    static func main() async {
        ignoreClosedPipes()
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: error)
        }
    }
}
