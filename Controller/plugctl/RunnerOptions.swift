import ArgumentParser
import Broker
import BrokerConfiguration
import Daemon
import Dashboard
import Effects
import HistoryDelivery
import HouseCalendar
import PlugClient
import PlugTransport
import PowerHistory
import Presentation
import Processes
import RuleEditing
import SystemUpdates

/// The common options of `rules run` and `daemon`.
struct RunnerOptions: ParsableArguments {
    @OptionGroup var network: NetworkOptions
    @OptionGroup var place: LocationOptions
    @Flag(
        help: """
            One JSON object per line: event (following, lost, gap, firing, heldBack, nearMiss, step, ruleEnabled, commanded, \
            remembered, notSent, resumed, command, performing, effect, calling, called, scriptLog, callFailed, \
            commandsHeldBack, timersHeldBack, scriptEnded, scriptRuns, rulesChanged, fileBroken, fileSound, notStored, storedInReserve, stored, recordsLeftOut; for the daemon also serving, with address), at, plug, rule, why, what, ...
            """)
    var json = false

    /// Runs rules until the process is interrupted.
    ///
    /// - Parameters:
    ///   - store: The durable state of the rules; nil for none.
    ///   - history: Records the plugs' reports; nil for none.
    ///   - face: The dashboard and the history for it; nil for none.
    ///   - state: The directory of durable state for the broker connection and the delivery of the history; if nil,
    ///     both are off.
    ///   - files: The source of changed rules; nil if the rules never change.
    func run(
        _ rules: RuleFileSet, _ store: RuleStore?, _ history: PowerHistory? = nil, _ face: DashboardSetup? = nil,
        state: String? = nil, following files: RulesDirectory? = nil
    ) async throws {
        let sun = try sunTable()
        try await network.withClient(endsItself: false) { client in
            face?.keepAway(client)
            let recorder = history.flatMap { makeRecorder($0, on: client) }
            let board = face.map {
                LiveBoard(
                    rules: rules.rules, history: $0.history, rooms: RoomStore(directory: $0.settings.directory),
                    order: OrderStore(directory: $0.settings.directory), on: client.eventLoop)
            }
            let settings = state == nil ? nil : BrokerFile.settings()
            let newSystems = state == nil ? nil : UpdatesFile.settings()
            let updates = HouseUpdates(newSystems) { printError($0) }
            let broker = settings.flatMap { settings in
                state.flatMap { openBroker(settings, $0, newSystems?.allowsBroker == true ? updates : nil, on: client) }
            }
            let others = state == nil ? nil : HistoryFile.settings()
            let delivery = others.flatMap { others in state.flatMap { openDelivery(others, of: history, $0) } }
            let fleet = face == nil ? nil : FleetFile.settings()
            // Only the daemon runs while the machine sleeps; `rules run` is for trying rules.
            let sleeping =
                face == nil
                ? nil
                : state.map {
                    SleepingMachine(
                        client: client, interfaces: network.filter, digest: SleepDigest(), directory: $0)
                }
            let machines = HouseMachines(MachineFile.machines())
            let listening: [(any HouseObserver)?] = [
                board, broker, delivery?.states, sleeping?.digest, machines, state == nil ? nil : updates,
            ]
            let audiences = listening.compactMap(\.self)
            var secrets = secrets(store, face, history)
            for paths in [settings?.account.secretPaths, others?.secretPaths, fleet?.secretPaths] {
                secrets.files += paths ?? []
            }
            let receivers = NotificationFile.receivers()
            secrets.files += receivers.flatMap(\.secretPaths) + MachineFile.paths
            let outside = EffectPolicy.read(keeping: secrets, socket: face?.settings.socket)
            let performer = EffectPerformer(
                receivers: receivers, outside: outside, machines: { machines.current })
            let runner = RuleRunner(
                rules, client: client, store: store, performer: performer, scripts: scriptPool(), sun: sun,
                recorder: recorder, audiences: audiences)
            let daylight = try place.read()
            let editor = files.map {
                RuleEditor(
                    $0, mayEdit: face?.settings.mayEditRules ?? false, policy: outside, daylight: daylight)
            }
            let (unread, unreadable) = AsyncStream.makeStream(of: Never.self)
            let printing = Task { [json] in
                await runner.printRecords {
                    let isRead = Self.print($0, json: json)
                    if !isRead { unreadable.finish() }
                    return isRead
                }
            }
            let logger = network.logger
            try await untilInterrupted {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await runner.run() }
                    group.addTask { for await _ in unread {} }
                    if let files { group.addTask { await files.follow { await runner.replace($0) } } }
                    if let face, let board {
                        let house = DaemonHouse(runner: runner, client: client, known: machines, updates: updates)
                        group.addTask { await face.run(board, house, recorder, fleet, editor, logger) }
                    }
                    if let broker {
                        group.addTask { await broker.run { try await runner.send($0, to: $1, id: $2) } }
                    }
                    group.addTask {
                        await updates.run {
                            await runner.plug(named: $0)
                        } announce: { plug, system in
                            await broker?.publish(system.report, available: system.available, of: plug)
                        }
                    }
                    if let delivery { group.addTask { await delivery.run() } }
                    if let sleeping { group.addTask { await sleeping.run() } }
                    await group.next()
                    group.cancelAll()
                }
            }
            await printing.value
        }
    }

    /// Returns the files with which another program could act as this controller or log in to its dashboard, and the
    /// directories of the daemon.
    private func secrets(_ store: RuleStore?, _ face: DashboardSetup?, _ history: PowerHistory?) -> Secrets {
        var secrets = Secrets(
            files: TransportIdentity.secretPathsOfThisController + (store.map { [$0.secretPath] } ?? []),
            folders: [TransportIdentity.directoryOfThisController] + (store.map { [$0.directory] } ?? []),
            // Programs of rules may read the history, to draw charts.
            sharedFolders: [history?.directory ?? PowerHistory.defaultDirectory()])
        if let settings = face?.settings {
            secrets.files += settings.secretPaths
            secrets.folders.append(settings.directory)
        }
        return secrets
    }

    /// Returns nil if the location of the house is unknown.
    private func sunTable() throws -> SunTable? {
        guard let daylight = try place.read() else { return nil }
        return { days, instant in
            let second = { (day: Int64) in Int(day) * 86_400 }
            // One more day on each side, because local days differ from those of UTC.
            let zone = ZoneOffsets.local(from: second(days.lowerBound - 1), to: second(days.upperBound + 2))
            return daylight.times(days: days, zone: zone) { instant($0) }
        }
    }

    /// Prints a record. Returns false if the reader has closed the pipe. Returns true if a write failed, so that a full
    /// disk does not stop the rules.
    private static func print(_ record: RunnerRecord, json: Bool) -> Bool {
        let line = RuleRecord(record)
        let isRead = json ? Output.json(line) : Output.safeLine("\(localTime(line.at))  \(line.text)")
        return isRead || Output.hasFailed
    }
}
