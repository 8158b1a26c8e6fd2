import PlugModel
import ProtocolCore

/// Decides when the plugs of a house are asked for their system, updated and restarted, and when the source is searched.
///
/// One plug is updated at a time, in the order of the requests. In the quiet time, the plugs with an installed system restart
/// one after the other, each at most once.
struct UpdatesMachine: Machine, Sendable {
    /// The inputs of the machine.
    enum Event: MachineEvent, Sendable {
        /// A plug whose system can be updated has connected.
        case connected(PlugID)
        /// A plug reported its system.
        case reported(PlugID, UpdateReport)
        /// The version of the newest system for a board at the source; nil if the source has none.
        case found(String?, board: String)
        /// The source did not answer, for this reason.
        case failed(board: String, reason: String)
        /// An owner requests an update that has no ``obstacle(to:)``.
        case requested(PlugID, UpdateRestart)
        /// An owner ends an update.
        case cancelled(PlugID)
        /// The update that ``Action/update(_:_:)`` began has ended. `fault` is the reason why it was not carried out.
        case ended(PlugID, fault: String?)
        /// The plug did not carry out ``Action/restart(_:)``.
        case notRestarted(PlugID)
        /// True in the quiet time. The owner sends this event again and again.
        case quietTime(Bool)
        /// The time of ``UpdatesMachine/nextDeadline`` has passed.
        case deadlineReached
    }

    /// The outputs of the machine.
    enum Action: Hashable, Sendable {
        /// Ask the plug for its system.
        case ask(PlugID)
        /// Ask the source for the newest system of a board.
        case search(board: String)
        case update(PlugID, UpdateRestart)
        /// End the update of the plug.
        case stop(PlugID)
        case restart(PlugID)
        /// The plug's system has changed.
        case announce(PlugID, PlugSystem)
        /// Show a message to the user.
        case complain(String)
    }

    /// The time between two searches for new systems.
    static let searchPause = Duration.seconds(6 * 3600)
    /// The time between two questions to a plug that installs or proves its system.
    static let questionPause = Duration.seconds(5)
    /// The time after which the next plug restarts in the quiet time, although the last one has not returned.
    static let returnLimit = Duration.seconds(900)
    /// The limit of updates that wait for their turn.
    static let queueLimit = 1000

    private let hasSource: Bool
    private var systems: [PlugID: PlugSystem] = [:]
    /// The newest system of each board that is searched; nil if the source has none or has not answered.
    private var newest: [String: String?] = [:]
    /// The boards whose last search failed.
    private var failing: Set<String> = []
    private var nextSearch: Instant
    /// The plugs that are asked again, with the time.
    private var questions: [PlugID: Instant] = [:]
    private var queue: [(plug: PlugID, restart: UpdateRestart)] = []
    /// The plug that is being updated.
    private var updated: (plug: PlugID, isCancelled: Bool)?
    /// The plugs that were restarted in this quiet time.
    private var restarted: Set<PlugID> = []
    /// The plug that was restarted last, until it has proved its system.
    private var restarting: (plug: PlugID, since: Instant)?

    init(hasSource: Bool, now: Instant) {
        self.hasSource = hasSource
        nextSearch = now + Self.searchPause
    }

    var nextDeadline: Instant? { sooner(hasSource ? nextSearch : nil, questions.values.min()) }

    /// The system of a plug; nil before its first report.
    func system(of plug: PlugID) -> PlugSystem? { systems[plug] }

    /// Returns the reason why an update of the plug cannot be requested now; nil if it can.
    func obstacle(to plug: PlugID) -> SystemUpdateError? {
        guard hasSource else { return .noSource }
        guard let system = systems[plug] else { return .away }
        return system.isUpdating || queue.count >= Self.queueLimit ? .busy : nil
    }

    mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .connected(let plug): return [.ask(plug)]
        case .reported(let plug, let report): return note(report, of: plug, now)
        case .found(let system, let board):
            failing.remove(board)
            newest[board] = .some(system)
            return Self.sorted(systems.keys).flatMap { plug in
                systems[plug]?.report.board == board ? change(plug) { _ in } : []
            }
        case .failed(let board, let reason):
            // The last answer stays valid. The failure is reported once.
            return failing.insert(board).inserted ? [.complain("cannot search for new systems: \(reason)")] : []
        case .requested(let plug, let restart):
            queue.append((plug, restart))
            let changes = change(plug) { ($0.isUpdating, $0.fault) = (true, nil) }
            return changes + beginNext()
        case .cancelled(let plug): return cancel(plug)
        case .ended(let plug, let fault): return end(plug, fault)
        case .notRestarted(let plug):
            if restarting?.plug == plug { restarting = nil }
            return []
        case .quietTime(let isQuiet): return isQuiet ? restartNext(now) : endQuietTime()
        case .deadlineReached: return askAgain(now) + searchAgain(now)
        }
    }

    /// Returns the plugs in the same order in each run, which a dictionary does not have.
    private static func sorted(_ plugs: some Sequence<PlugID>) -> [PlugID] {
        plugs.sorted { $0.rawValue < $1.rawValue }
    }

    // MARK: Systems

    private mutating func note(_ report: UpdateReport, of plug: PlugID, _ now: Instant) -> [Action] {
        var actions = change(plug) { $0.report = report }
        if hasSource, !report.board.isEmpty, newest[report.board] == nil {
            forgetBoards()
            newest[report.board] = .some(nil)
            actions.append(.search(board: report.board))
        }
        // A plug does not report its progress by itself. The update asks it, as long as one is in progress.
        if report.phase.isMoving, systems[plug]?.isUpdating == false {
            questions[plug] = questions[plug] ?? now + Self.questionPause
        }
        return actions
    }

    private mutating func change(_ plug: PlugID, _ work: (inout PlugSystem) -> Void) -> [Action] {
        var system = systems[plug] ?? PlugSystem(UpdateReport(phase: .unknown))
        work(&system)
        if let found = newest[system.report.board] { system.available = found }
        guard system != systems[plug] else { return [] }
        systems[plug] = system
        return [.announce(plug, system)]
    }

    private mutating func askAgain(_ now: Instant) -> [Action] {
        let due = Self.sorted(questions.filter { $0.value <= now }.keys)
        for plug in due { questions[plug] = nil }
        return due.map { .ask($0) }
    }

    // MARK: The source

    private mutating func searchAgain(_ now: Instant) -> [Action] {
        guard hasSource, now >= nextSearch else { return [] }
        nextSearch = now + Self.searchPause
        forgetBoards()
        return newest.keys.sorted().map { .search(board: $0) }
    }

    /// Forgets the boards that no plug states any more, as a plug may after an update.
    private mutating func forgetBoards() {
        let boards = Set(systems.values.map(\.report.board))
        newest = newest.filter { boards.contains($0.key) }
        failing.formIntersection(boards)
    }

    // MARK: Updates

    private mutating func beginNext() -> [Action] {
        guard updated == nil, !queue.isEmpty else { return [] }
        let (plug, restart) = queue.removeFirst()
        updated = (plug, false)
        return [.update(plug, restart)]
    }

    private mutating func cancel(_ plug: PlugID) -> [Action] {
        if updated?.plug == plug {
            updated?.isCancelled = true
            return [.stop(plug)]
        }
        guard let index = queue.firstIndex(where: { $0.plug == plug }) else { return [] }
        queue.remove(at: index)
        return change(plug) { $0.isUpdating = false }
    }

    private mutating func end(_ plug: PlugID, _ fault: String?) -> [Action] {
        guard let updated, updated.plug == plug else { return [] }
        self.updated = nil
        let changes = change(plug) { ($0.isUpdating, $0.fault) = (false, updated.isCancelled ? nil : fault) }
        return changes + [.ask(plug)] + beginNext()
    }

    // MARK: The quiet time

    private mutating func restartNext(_ now: Instant) -> [Action] {
        if let (plug, since) = restarting, let phase = systems[plug]?.report.phase {
            guard !phase.isUnproved || now >= since + Self.returnLimit else { return [] }
        }
        let next = systems.filter { plug, system in
            system.report.phase == .installed && !system.isUpdating && !restarted.contains(plug)
        }.keys.min { $0.rawValue < $1.rawValue }
        restarting = next.map { (plug: $0, since: now) }
        guard let next else { return [] }
        restarted.insert(next)
        return [.restart(next)]
    }

    private mutating func endQuietTime() -> [Action] {
        (restarted, restarting) = ([], nil)
        return []
    }
}

extension UpdateReport.Phase {
    /// True while the plug changes its phase without a further request. A plug that has just started does not know its phase.
    fileprivate var isMoving: Bool {
        switch self {
        case .installing, .trying, .unknown: true
        case .idle, .receiving, .installed, .returned, .failed: false
        }
    }

    /// True until a restarted plug's new system works or is taken back.
    fileprivate var isUnproved: Bool {
        switch self {
        case .installed, .trying, .unknown: true
        case .idle, .receiving, .installing, .returned, .failed: false
        }
    }
}
