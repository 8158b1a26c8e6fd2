internal import DequeModule
import PlugModel

/// The running commands, and the outcomes of the last completed commands. A repeated request of the same authority gets
/// the first outcome.
struct RequestLedger: Sendable {
    /// The origin that waits for an outcome.
    enum Waiter: Hashable {
        case session(ConnectionID)
        /// A door, with the ticket of its command.
        case door(PlugDoor, UInt64)
    }

    private enum Entry: Sendable {
        /// The command is running. `waiting` has the origins that wait for its outcome; `event` is the event that it
        /// has caused, or nil if it has caused none yet.
        case running(waiting: [Waiter], event: SequenceNumber?)
        case finished(CommandOutcome)
        /// Executed before a restart of the firmware. The journal contains its event.
        case recorded(SequenceNumber)
    }

    enum Admission: Hashable {
        /// The command is new and must be executed.
        case new
        /// The command is running. The waiter now waits for its outcome, for the first time or again.
        case joined, joinedAgain
        case answered(CommandOutcome)
        /// Too many commands are running, or the origin may not wait for one more outcome.
        case full
        /// The command is new, but its deadline has passed.
        case late
    }

    private var entries: [CommandID: Entry] = [:]
    /// The completed commands, oldest first.
    private var ended: Deque<CommandID> = []
    /// The number of completed commands per authority.
    private var counts: [AuthorityID: Int] = [:]
    private let recentLimit: Int
    private let runningLimit: Int

    /// Creates a ledger when the firmware starts.
    ///
    /// - Parameters:
    ///   - recent: the maximum number of outcomes. The oldest is evicted first.
    ///   - running: the maximum number of running commands, including those whose connection has ended.
    ///   - journal: the events of the previous run.
    ///   - finished: the outcomes of the previous run, oldest first.
    init(recent: Int, running: Int, journal: EventJournal, finished: [FinishedRequest]) {
        recentLimit = recent
        runningLimit = running
        for event in journal.read(after: 0, limit: journal.count) {
            if let command = event.command { end(command, .recorded(event.sequence)) }
        }
        for past in finished { end(past.command, .finished(past.outcome)) }
    }

    /// The completed commands with a known outcome, oldest first.
    var finished: [FinishedRequest] {
        ended.compactMap { command in outcome(of: command).map { FinishedRequest(command, $0) } }
    }

    func outcome(of command: CommandID) -> CommandOutcome? {
        guard case .finished(let outcome) = entries[command] else { return nil }
        return outcome
    }

    /// Completes the commands that are known only from the journal. This state becomes their outcome, which stays in
    /// the ledger when the journal has evicted their events.
    mutating func settle(with state: PlugState) -> [FinishedRequest] {
        var settled: [FinishedRequest] = []
        for command in ended {
            guard case .recorded(let sequence) = entries[command] else { continue }
            let outcome = CommandOutcome.done(state, event: sequence)
            entries[command] = .finished(outcome)
            settled.append(FinishedRequest(command, outcome))
        }
        return settled
    }

    /// Looks a command up and adds it if it is new.
    ///
    /// - Parameters:
    ///   - mayWait: true if the origin may wait for one more outcome.
    ///   - isLate: true if a new command must not be executed any more.
    ///   - state: the state in the answer to a command that was executed before a restart.
    mutating func admit(
        _ command: CommandID, from waiter: Waiter, mayWait: Bool, isLate: Bool, state: PlugState
    ) -> Admission {
        switch entries[command] {
        case nil:
            guard !isLate else { return .late }
            guard mayWait, entries.count - ended.count < runningLimit else { return .full }
            entries[command] = .running(waiting: [waiter], event: nil)
            return .new
        case .running(var waiting, let event):
            guard !waiting.contains(waiter) else { return .joinedAgain }
            guard mayWait else { return .full }
            waiting.append(waiter)
            entries[command] = .running(waiting: waiting, event: event)
            return .joined
        case .finished(let outcome):
            return .answered(outcome)
        case .recorded(let sequence):
            return .answered(.done(state, event: sequence))
        }
    }

    /// Records the event of a command that is running or was executed before a restart.
    mutating func note(_ event: PlugEvent) {
        guard let command = event.command else { return }
        switch entries[command] {
        case .running(let waiting, _): entries[command] = .running(waiting: waiting, event: event.sequence)
        case nil: end(command, .recorded(event.sequence))
        case .finished, .recorded: break
        }
    }

    /// Completes a command. Returns the outcome and its waiters, or nil if the command is not running.
    mutating func finish(_ command: CommandID, _ outcome: CommandOutcome) -> (CommandOutcome, [Waiter])? {
        guard case .running(let waiting, let event) = entries[command] else { return nil }
        var outcome = outcome
        if case .done(let state, event: nil) = outcome { outcome = .done(state, event: event) }
        end(command, .finished(outcome))
        return (outcome, waiting)
    }

    /// Discards the outcomes of controllers that are not in the list, because they were removed. Outcomes of doors and
    /// running commands stay.
    mutating func keep(only controllers: [AuthorityID]) {
        let authorities = controllers + PlugDoor.allCases.map(\.authority)
        ended.removeAll { command in
            guard !authorities.contains(command.authority) else { return false }
            entries[command] = nil
            return true
        }
        counts = counts.filter { authorities.contains($0.key) }
    }

    private mutating func end(_ command: CommandID, _ entry: Entry) {
        let before = entries.updateValue(entry, forKey: command)
        switch before {
        case nil, .running:
            ended.append(command)
            counts[command.authority, default: 0] += 1
        case .finished, .recorded: return
        }
        if ended.count > recentLimit { forgetOne() }
    }

    /// Evicts the oldest outcome of the authority with the most outcomes, so that one client cannot evict another's.
    private mutating func forgetOne() {
        guard let most = counts.max(by: { $0.value < $1.value })?.key,
            let index = ended.firstIndex(where: { $0.authority == most })
        else { return }
        entries[ended.remove(at: index)] = nil
        counts[most]? -= 1
    }
}

extension PlugEvent {
    /// The command that caused the event, or nil.
    var command: CommandID? {
        switch kind {
        case .relayChanged(_, cause: .controller(_, let request, let authority)),
            .protectionReset(_, cause: .controller(_, let request, let authority)):
            CommandID(request, of: authority)
        case .relayChanged, .buttonPressed, .protectionTripped, .protectionReset, .restarted, .pairingFailed,
            .controllerPaired, .controllerRemoved:
            nil
        }
    }
}
