import ArgumentParser
import Daemon
import Doctor
import LinuxSystem
import PlugClient
import PlugTransport
import Presentation
import Terminal

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why plugs are not found or not reachable, and how to fix it.",
        discussion: """
            The command checks the network interfaces and their addresses, multicast reception, other programs on the mDNS port, \
            the hosts that answer for plugs, the domains of --domain, and the clock, and connects to each paired plug. It changes \
            nothing.

            Each finding is ok, a warning or a problem. The exit status is 1 if there is a problem.

            Examples:
              plugctl doctor
              plugctl doctor --interface wlan0 --wait 10s
              plugctl doctor --json | jq 'select(.level == "problem")'
            """)

    @OptionGroup var network: NetworkOptions
    @Flag(help: "One JSON object per line: level, subject, about, what, why, next.")
    var json = false

    func run() async throws {
        let (paired, identity, fault) = known()
        if !json, TerminalDevice.standardError.isTerminal {
            printError("searching the network for \(network.wait), then connecting to each paired plug")
        }
        let json = json
        try await network.withClient(identity) { client in
            try await untilInterrupted {
                let examination = Examination(
                    client: client, filter: network.filter, wait: network.wait.duration, logger: network.logger)
                var seen = await examination.observe(paired: paired, controllerFault: fault)
                let quarantine = QuarantineFile(QuarantineFile.defaultDirectory())
                seen.keptAway = paired.reduce(into: [:]) { $0[$1.id] = quarantine.reason(for: $1) }
                try Task.checkCancellation()
                let findings = Diagnosis.findings(seen)
                for record in findings.map({ FindingRecord($0) }) {
                    let isRead = json ? Output.json(record) : record.lines.allSatisfy { Output.safeLine($0) }
                    guard isRead else { break }
                }
                if findings.contains(where: { $0.level == .problem }) { throw ExitCode.failure }
            }
        }
    }

    /// Returns the paired plugs and this controller's identity, or the reason why they cannot be read. A controller
    /// without paired plugs needs no key, so its key is not created here.
    private func known() -> ([PairedPlugs.Entry], TransportIdentity, fault: String?) {
        do {
            let paired = try PairedPlugs().all()
            return (paired, try paired.isEmpty ? TransportIdentity() : .ofThisController(), nil)
        } catch {
            return ([], TransportIdentity(), "\(error)")
        }
    }
}
