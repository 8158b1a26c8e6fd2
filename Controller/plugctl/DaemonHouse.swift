import Automation
import Daemon
import Dashboard
import FleetService
import HostSleep
import LinuxSystem
import Logging
import PlugClient
import PlugModel
import PlugTransport
import PowerHistory
import Presentation
import RuleEditing
import SleepClient
import SystemUpdates

/// Gives the dashboard access to the plugs, through the same connections that the rules use, and to the machines.
struct DaemonHouse: HouseCommands {
    let runner: RuleRunner
    let client: PlugClient
    let known: HouseMachines
    let updates: HouseUpdates

    var machines: KnownMachines { known.current }

    func send(
        _ command: PlugCommand, to plug: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?) {
        try await runner.send(command, to: plug, id: id)
    }

    func pair(_ plug: String, code: SetupCode) async throws -> PairedPlugs.Entry {
        let entry = try await client.pair(plug, code: code)
        // The plug rejected the earlier connection. Without this call the next attempt would follow only after a delay.
        await runner.plug(named: plug)?.locate()
        return entry
    }

    func settings(of plug: String) async throws -> RemoteSettings? { try await connected(plug).settings }

    func invite(to plug: String, code: SetupCode, as grant: Grant) async throws -> Duration? {
        try await connected(plug).invite(with: code, as: grant)
    }

    func unpair(_ plug: String) async throws {
        try await connected(plug).unpair(TransportIdentity.ofThisController().publicKey, from: PairedPlugs())
    }

    func forget(_ plug: PlugID) async throws { try await PairedPlugs().remove(plug) }

    private func connected(_ plug: String) async throws(Refusal) -> FollowedPlug {
        guard let followed = await runner.plug(named: plug), await followed.isConnected else {
            throw Refusal(.deadlinePassed, "the plug is not connected")
        }
        return followed
    }

    func plugs(of rule: String) async -> [NamedPlug] { await runner.plugs(of: rule) }
    func enable(_ rule: String, _ isOn: Bool) async throws { try await runner.enable(rule, isOn) }
    func fire(_ rule: String) async throws -> RequestID { try await runner.fire(rule) }

    func notify(_ request: EffectRequest) async -> Bool { await runner.notify(request) }

    func wake(_ machine: KnownMachine) async throws -> WakeOutcome {
        guard let outcome = try await Waker.wake(machine) else { throw CancellationError() }
        return outcome
    }
}

/// The dashboard of a daemon, with the history and the quarantine that it uses.
struct DashboardSetup: Sendable {
    let settings: DashboardSettings
    /// The history, opened for reading; nil if no history is open.
    let history: PowerHistory?
    /// False if the user disabled the history.
    let wantsHistory: Bool
    /// True if standard output is JSON lines.
    let json: Bool
    /// The quarantine; nil if the daemon has no directory for its state.
    let quarantine: QuarantineFile?

    /// Reports a crash of the previous process, and prevents the client from connecting to quarantined plugs.
    func keepAway(_ client: PlugClient) {
        guard let quarantine else { return }
        do throws(FileError) {
            if let death = try quarantine.begin() { printError(death.words) }
        } catch {
            printError("crash attribution is unavailable, so a plug that crashes the daemon is not disabled: \(error)")
        }
        client.keepAway { quarantine.reason(for: $0) }
    }

    /// Serves the dashboard until the task is cancelled.
    ///
    /// - Parameters:
    ///   - recorder: Writes the history; nil if the daemon records none.
    ///   - others: The settings of the other houses that the dashboard shows; nil without fleet.toml.
    ///   - rules: The rule files that the daemon follows; nil if it follows none.
    func run(
        _ board: LiveBoard, _ house: DaemonHouse, _ recorder: Recorder?, _ others: FleetSettings?, _ rules: RuleEditor?,
        _ logger: Logger
    ) async {
        let (json, wantsHistory) = (json, wantsHistory)
        let fleet = others.map { FleetAccess($0) }
        let dashboard = Dashboard(
            house: house, board: board, history: history, logger: logger, settings: settings, fleet: fleet,
            ruleEditor: rules,
            historyFault: {
                guard let recorder else { return wantsHistory ? "it could not be opened" : nil }
                return await recorder.fault
            })
        let announcing = DashboardAnnouncer(house.client.discovery, settings, logger: logger)
        await dashboard.run { notice in
            switch notice {
            case .complaint(let text): printError(text)
            case .serving(let address, let fingerprint, let announcement):
                if let announcement { Task { await announcing.announce(announcement) } }
                let record = ServingRecord(address: address, fingerprint: fingerprint)
                if json { Output.json(record) } else { Output.safeLine(record.text) }
            }
        }
        // A new task, because waiting in a cancelled task ends at once.
        await Task {
            await announcing.stop()
            await fleet?.end()
        }.value
    }
}
