import ArgumentParser
import LinuxSystem
import ProcessSetup

@main
struct Plugctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugctl",
        abstract: "Find, switch, dim and watch smart plugs, and run rules.",
        discussion: """
            Without a subcommand it shows an overview of all plugs.

            Examples:
              plugctl
              plugctl pair "Living Room Lamp"
              plugctl on "Living Room Lamp"
              plugctl dim "Ceiling Light" 30% --over 2s
              plugctl watch Television --json

            Plugs are addressed by name. Each plug is paired once, with the code on its label. With --json each line of standard output is one
            JSON object. Exit status: 0 success, 1 failure, 2 partial success, 64 wrong usage.
            """,
        version: "0.1.0",
        subcommands: [
            Glance.self, Browse.self, Domains.self, Resolve.self, Info.self, Pair.self, Unpair.self,
            AddressCommand.self, Controllers.self, Invite.self,
            InvitationsCommand.self, NewCode.self, RotateKey.self, HomeKitCommand.self, MatterCommand.self, Reset.self,
            On.self, Off.self, Toggle.self, Dim.self, Identify.self, Rename.self, SetCommand.self, Watch.self,
            Logs.self, Audit.self, ChartCommand.self, History.self, Report.self, TariffCommand.self, BudgetCommand.self,
            Rules.self, Notify.self, Wake.self, UpdateCommand.self, WiFiCommand.self, SetupCommand.self,
            DaemonCommand.self,
            FleetCommand.self, DoctorCommand.self,
        ],
        defaultSubcommand: Glance.self)

    static func main() async {
        ProcessSetup.reset()
        if let problem = HostZone.problem() { printError("warning: " + problem) }
        if let error = Dim.negativeLevel(in: CommandLine.arguments) { exit(withError: error) }
        do {
            var command = try parseNamed()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: error)
        }
        if Output.hasFailed { exit(withError: ExitCode.failure) }
    }
}
