import Daemon
import Dashboard
import HostSleep
import LinuxSystem
import NIOCore
import NIOPosix
import PlugClient
import PlugModel
import PowerHistory
import Presentation
import RuleModel
import ServiceDiscovery
import Synchronization
import TestSupport

extension FuzzTarget {
    /// Runs a daemon on the bytes of a paired plug: `HouseFollower` delivers them, rules run and are stored, the
    /// recorder writes the history, and the page shows the house. Then a second daemon starts with the stored state
    /// and receives the same bytes.
    static let daemon = FuzzTarget(
        name: "daemon",
        seeds: { recorded { $0.fromPlug } },
        check: { bytes in
            let folder = TestFolder(on: .memory)
            let first = try await DaemonLife.live(on: bytes, in: folder.path, as: .recorder)
            // The first daemon may still hold the recorder's lock for a moment, so the second daemon opens the history
            // as a writer.
            let next = try await DaemonLife.live(on: bytes, in: folder.path, as: .writer)
            try require(next.complaints.isEmpty, "the stored state cannot be read: \(next.complaints)")
            // If the second daemon continued from an earlier cursor, events would take effect twice.
            for (plug, sequence) in first.cursors {
                try require(
                    next.cursors[plug] ?? 0 >= sequence, "\(plug) is at \(next.cursors[plug] ?? 0), not \(sequence)")
            }
            return first.reports > 1
        })
}

/// The life of a daemon that follows one plug, from its start to the end of the plug's connection.
private struct DaemonLife {
    static let plug = PlugID(rawValue: "0123456789ab")!
    private static let connection = ConnectionID(rawValue: 1)
    private static let loop = MultiThreadedEventLoopGroup.singleton.next()

    var reports = 0
    var complaints: [String] = []
    var cursors: [PlugID: SequenceNumber] = [:]

    static func live(
        on bytes: [UInt8], in folder: String, as role: PowerHistory.Role
    ) async throws -> DaemonLife {
        var life = DaemonLife()
        let store = try RuleStore(folder + "/rules") { life.complaints.append($0) }
        let history = try PowerHistory(folder + "/history", role: role)
        let recorder = try Recorder(history, on: loop) { _ in }
        let ears = Ears(LiveBoard(rules: RuledReports.rules, history: history, paired: PairedPlugs(directory: folder)))
        let (changes, change) = AsyncStream.makeStream(of: ServiceChange.self)
        change.yield(
            .found(
                ServiceIdentity(name: "Lamp", type: PlugClient.serviceType, interface: 2),
                txt: try TXTRecord(["id": plug.rawValue])))
        let runner = RuleRunner(
            RuleFileSet(rules: RuledReports.rules), store: store, recorder: recorder, audiences: [ears], on: loop
        ) { known in
            HouseFollower(known: known) {
                [plug: "Lamp"]
            } browse: {
                changes
            } follow: { name, known in
                follow(name, known, hearing: bytes) { change.finish() }
            }
        }
        let running = Task { await runner.run() }
        let reading = Task { for await _ in runner.records {} }
        await running.value
        await reading.value
        life.reports = ears.reports.withLock(\.count)
        try ears.check()
        life.cursors = try history.cursors()
        return life
    }

    /// A plug whose connection delivers these bytes and ends.
    private static func follow(
        _ name: String, _ known: [PlugID: SequenceNumber], hearing bytes: [UInt8], end: @escaping @Sendable () -> Void
    ) -> FollowedPlug {
        let machine = PlugFollower(
            controllerName: "Desk", cursor: .after(Guest.cursor), known: known, stateOptions: StateOptions(), seed: 1)
        let plug = FollowedPlug(name: name, machine: machine, eventLoop: loop) { _ in }
        Task {
            await plug.handle(.located)
            await plug.handle(.dialling(Self.plug))
            await plug.handle(.opened(connection))
            await plug.handle(.received(bytes, on: connection))
            await plug.handle(.closed(connection))
            end()
        }
        return plug
    }
}

/// Observes the house and forwards its updates to the page and to the list of machines.
private final class Ears: HouseObserver {
    let reports = Mutex<[PlugReport]>([])
    private let board: LiveBoard
    private let machines = HouseMachines(KnownMachines())

    init(_ board: LiveBoard) { self.board = board }

    func handle(_ update: HouseFollower.Update) async {
        await board.handle(update)
        machines.handle(update)
        if case .report(let report) = update { reports.withLock { $0.append(report) } }
    }

    func note(_ record: RunnerRecord) async { await board.note(record) }

    func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) async {
        await board.rulesChanged(rules, disabled: disabled, faults: faults)
    }

    /// Checks that within each connection, the numbers of the events increase and are not in a reported gap.
    func check() throws {
        try require(
            machines.current.machines.allSatisfy { !$0.name.isEmpty && $0.isLearned }, "a machine without a name")
        var last: SequenceNumber?
        for report in reports.withLock({ $0 }) {
            switch report.update {
            case .event(let event, _):
                try require(last.map { event.sequence > $0 } ?? true, "event \(event.sequence) came after \(last!)")
                last = event.sequence
            case .gap(let gap): last = gap.to
            case .connected: last = nil
            case .following, .snapshot, .state, .log, .disconnected: break
            }
        }
    }
}
