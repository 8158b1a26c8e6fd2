internal import DequeModule
import PlugModel

/// Which commands are being carried out, and how the last ones ended: a request that comes again from the same authority
/// gets the first answer.
struct RequestLedger: Sendable {
    /// Who asked for a command and waits for its outcome.
    enum Waiter: Hashable {
        case session(ConnectionID)
        /// The door's ticket.
        case door(PlugDoor, UInt64)
    }

    private enum Entry: Sendable {
        /// Those who asked, and the event that it caused so far.
        case running(waiting: [Waiter], event: SequenceNumber?)
        case finished(CommandOutcome)
        /// Carried out before the firmware restarted; the journal still has its event.
        case recorded(SequenceNumber)
    }

    enum Admission: Hashable {
        /// Not seen before: carry it out.
        case new
        /// Being carried out; who asked now waits for its outcome, for the first time or again.
        case joined, joinedAgain
        case answered(CommandOutcome)
        /// Too much is being carried out already.
        case full
    }

    private var entries: [CommandID: Entry] = [:]
    /// Those that have ended, oldest first.
    private var ended: Deque<CommandID> = []
    /// How many of them each authority has.
    private var counts: [AuthorityID: Int] = [:]
    private let recentLimit: Int
    private let runningLimit: Int

    /// - Parameters:
    ///   - recent: outcomes kept; the oldest is forgotten first.
    ///   - running: commands carried out at the same time, also of connections that have gone.
    ///   - journal: the events of the life before.
    ///   - finished: how commands of the life before ended, oldest first.
    init(recent: Int, running: Int, journal: EventJournal, finished: [FinishedRequest]) {
        recentLimit = recent
        runningLimit = running
        for event in journal.read(after: 0, limit: journal.count) {
            if let command = event.command { end(command, .recorded(event.sequence)) }
        }
        for past in finished { end(past.command, .finished(past.outcome)) }
    }

    /// Those that ended and whose outcome is known, oldest first.
    var finished: [FinishedRequest] {
        ended.compactMap { command in outcome(of: command).map { FinishedRequest(command, $0) } }
    }

    func outcome(of command: CommandID) -> CommandOutcome? {
        guard case .finished(let outcome) = entries[command] else { return nil }
        return outcome
    }

    /// Those that only the journal tells of end with this state, so that they are remembered longer than their events.
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

    /// - Parameters:
    ///   - mayWait: whether who asks may wait for another outcome.
    ///   - state: what a command answers with that was carried out before a restart.
    mutating func admit(
        _ command: CommandID, from waiter: Waiter, mayWait: Bool, state: PlugState
    ) -> Admission {
        switch entries[command] {
        case nil:
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

    /// Remembers which event records a command that is being carried out, or was before the firmware restarted.
    mutating func note(_ event: PlugEvent) {
        guard let command = event.command else { return }
        switch entries[command] {
        case .running(let waiting, _): entries[command] = .running(waiting: waiting, event: event.sequence)
        case nil: end(command, .recorded(event.sequence))
        case .finished, .recorded: break
        }
    }

    /// The outcome to answer with and who waits for it; nil for a request that is not being carried out.
    mutating func finish(_ command: CommandID, _ outcome: CommandOutcome) -> (CommandOutcome, [Waiter])? {
        guard case .running(let waiting, let event) = entries[command] else { return nil }
        var outcome = outcome
        if case .done(let state, event: nil) = outcome { outcome = .done(state, event: event) }
        end(command, .finished(outcome))
        return (outcome, waiting)
    }

    /// Forgets how the commands of all controllers but these ended: they were removed. Those under way end as they would have.
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

    /// The oldest of the authority that has the most, so that nobody's commands push out those of another.
    private mutating func forgetOne() {
        guard let most = counts.max(by: { $0.value < $1.value })?.key,
            let index = ended.firstIndex(where: { $0.authority == most })
        else { return }
        entries[ended.remove(at: index)] = nil
        counts[most]? -= 1
    }
}

extension PlugEvent {
    /// The command that caused it, where one did.
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
