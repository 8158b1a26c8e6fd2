import ArgumentParser
import DaemonClient
import PlugClient
import PlugTransport
import Presentation
import ProtocolCore
import Terminal

/// `plugctl` without a subcommand: an overview of the house.
struct Glance: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "house",
        abstract: "Show an overview of all plugs; plugctl without a subcommand does the same.",
        discussion: """
            The command asks the daemon if one is running, and otherwise the plugs, until no new ones appear. The energy of today \
            is shown if a daemon records it.

            Examples:
              plugctl
              plugctl --json | jq 'select(.on) | .plug'
              plugctl house --direct --wait 5s
            """)

    @OptionGroup var network: NetworkOptions
    @OptionGroup var way: DaemonOptions
    @OptionGroup var options: HistoryOptions
    @Flag(
        help: """
            One JSON object per plug: plug, id, state, reason, since, capabilities, firmware, on, level, tripped, reading, \
            sleepers.
            """)
    var json = false
    /// Receives an unknown subcommand, because this is the default subcommand.
    @Argument(parsing: .allUnrecognized, help: .hidden)
    var unknown: [String] = []

    func run() async throws {
        if let first = unknown.first {
            let commands = Plugctl.configuration.subcommands.compactMap { $0.configuration.commandName }
            let near = Suggestion.nearest(to: first, among: commands).map { "did you mean `plugctl \($0)`? " } ?? ""
            printError("unknown subcommand or option \"\(first)\"\nhint: \(near)`plugctl help` lists all subcommands")
            throw ExitCode.validationFailure
        }
        try await saying {
            let daemon = way.daemon(network)
            let told = try await ask(daemon)
            let plugs = if let told { told.plugs } else { try await gather() }
            if json { return printRecords(plugs) }
            guard !plugs.isEmpty else {
                return printError(
                    "no plugs were found, and none is paired\n"
                        + "hint: plug one in; if it does not appear, `plugctl doctor` shows why")
            }
            let history = try? options.openIfPresent()
            let energies = await EnergyToday(daemon: told == nil ? nil : daemon, history: history).read()
            print(HouseGlance(plugs, wattHours: energies, dashboard: told?.dashboard))
        }
    }

    private func printRecords(_ plugs: [PlugRecord]) {
        for plug in plugs { guard Output.json(plug) else { return } }
    }

    private func print(_ glance: HouseGlance) {
        let device = TerminalDevice.standardOutput
        let capabilities = device.capabilities
        for line in glance.lines(width: device.size?.columns, capabilities: capabilities) {
            guard Output.line(line, capabilities) else { return }
        }
    }

    /// Returns the daemon's record; nil if the daemon does not answer for any reason. The caller then asks the plugs
    /// directly.
    private func ask(_ daemon: DaemonClient?) async throws -> HouseRecord? {
        do {
            return try await daemon?.read(HouseRecord.self, "/api/v1/house")
        } catch let fault as DaemonFault {
            if let warning = fault.warning { printError(warning) }
            return nil
        }
    }

    private func gather() async throws -> [PlugRecord] {
        let paired = try PairedPlugs().all()
        // A controller without paired plugs needs no key, so its key is not created here.
        let identity = try paired.isEmpty ? TransportIdentity() : .ofThisController()
        var plugs: [PlugRecord] = []
        try await network.withClient(identity) { client in
            plugs = await HouseGathering(paired: paired, limit: network.wait.duration).gather(client)
        }
        return plugs
    }
}
