import Daemon
import Dashboard
import DurableFiles
import FleetService
import Logging
import PlugClient
import PlugModel
import PowerHistory
import Presentation

/// The plugs as the dashboard reaches them: through the rules' own connections.
struct DaemonHouse: CommandedHouse {
    let runner: RuleRunner
    let client: PlugClient

    func send(
        _ command: PlugCommand, to plug: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?) {
        try await runner.send(command, to: plug, id: id)
    }

    func pair(_ plug: String, code: SetupCode) async throws -> PairedPlugs.Entry {
        let entry = try await client.pair(plug, code: code)
        // It was turned away as a stranger, and would be tried again only after a while.
        await runner.locate(plug)
        return entry
    }

    func plugs(of rule: String) async -> [NamedPlug] { await runner.plugs(of: rule) }
    func enable(_ rule: String, _ isOn: Bool) async throws { try await runner.enable(rule, isOn) }
    func fire(_ rule: String) async throws -> RequestID { try await runner.fire(rule) }
}

/// What the daemon shows of itself, beside running rules.
struct DaemonFace: Sendable {
    let settings: DashboardSettings
    /// To read from.
    let history: PowerHistory?
    /// False where the person asked for none.
    let wantsHistory: Bool
    /// Whether standard output is JSON lines.
    let json: Bool
    /// Nil where nothing can be kept.
    let quarantine: QuarantineFile?

    /// What became of the process before is said, and plugs that it died of are kept away from.
    func keepAway(_ client: PlugClient) {
        guard let quarantine else { return }
        do throws(FileError) {
            if let death = try quarantine.begin() { complain(death.words) }
        } catch {
            complain("should the daemon die of what a plug says, nobody will know which one: \(error)")
        }
        client.keepAway { quarantine.reason(for: $0) }
    }

    /// - Parameters:
    ///   - recorder: what the history is written by; nil where it is not written.
    ///   - others: houses that the dashboard shows beside this one; nil where there are none.
    func run(
        _ board: LiveBoard, _ house: DaemonHouse, _ recorder: Recorder?, _ others: FleetSettings?, _ logger: Logger
    ) async {
        let (json, wantsHistory) = (json, wantsHistory)
        let fleet = others.map { FleetAccess($0) }
        let dashboard = Dashboard(
            house: house, board: board, history: history, logger: logger, settings: settings, fleet: fleet,
            historyFault: {
                guard let recorder else { return wantsHistory ? "it could not be opened" : nil }
                return await recorder.fault
            })
        await dashboard.run { notice in
            switch notice {
            case .complaint(let text): complain(text)
            case .serving(let address, let fingerprint):
                let record = ServingRecord(address: address, fingerprint: fingerprint)
                if json { Output.json(record) } else { Output.safeLine(record.text) }
            }
        }
        // In a task of its own, since in a cancelled one nothing is waited for any more.
        await Task { await fleet?.end() }.value
    }
}
