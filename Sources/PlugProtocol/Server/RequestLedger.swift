internal import DequeModule
import PlugModel

/// Which commands are being carried out, and how the last ones ended: a request that comes again gets the first answer.
struct RequestLedger: Sendable {
    private enum Entry: Sendable {
        /// Those who asked, and the event that it caused so far.
        case running(waiting: [ConnectionID], event: SequenceNumber?)
        case finished(CommandOutcome)
        /// Carried out before the firmware restarted; the journal still has its event.
        case recorded(SequenceNumber)
    }

    enum Admission: Hashable {
        /// Not seen before: carry it out.
        case new
        /// Being carried out; the connection now waits for its outcome, for the first time or again.
        case joined, joinedAgain
        case answered(CommandOutcome)
        /// Too much is being carried out already.
        case full
    }

    private var entries: [RequestID: Entry] = [:]
    /// Those that have ended, oldest first.
    private var ended: Deque<RequestID> = []
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
            if let request = event.request { end(request, .recorded(event.sequence)) }
        }
        for past in finished { end(past.request, .finished(past.outcome)) }
    }

    /// Those that ended and whose outcome is known, oldest first.
    var finished: [FinishedRequest] {
        ended.compactMap { request in outcome(of: request).map { FinishedRequest(request, $0) } }
    }

    func outcome(of request: RequestID) -> CommandOutcome? {
        guard case .finished(let outcome) = entries[request] else { return nil }
        return outcome
    }

    /// Those that only the journal tells of end with this state, so that they are remembered longer than their events.
    mutating func settle(with state: PlugState) -> [FinishedRequest] {
        var settled: [FinishedRequest] = []
        for request in ended {
            guard case .recorded(let sequence) = entries[request] else { continue }
            let outcome = CommandOutcome.done(state, event: sequence)
            entries[request] = .finished(outcome)
            settled.append(FinishedRequest(request, outcome))
        }
        return settled
    }

    /// - Parameters:
    ///   - mayWait: whether the connection may wait for another outcome.
    ///   - state: what a command answers with that was carried out before a restart.
    mutating func admit(
        _ request: RequestID, from connection: ConnectionID, mayWait: Bool, state: PlugState
    ) -> Admission {
        switch entries[request] {
        case nil:
            guard mayWait, entries.count - ended.count < runningLimit else { return .full }
            entries[request] = .running(waiting: [connection], event: nil)
            return .new
        case .running(var waiting, let event):
            guard !waiting.contains(connection) else { return .joinedAgain }
            guard mayWait else { return .full }
            waiting.append(connection)
            entries[request] = .running(waiting: waiting, event: event)
            return .joined
        case .finished(let outcome):
            return .answered(outcome)
        case .recorded(let sequence):
            return .answered(.done(state, event: sequence))
        }
    }

    /// Remembers which event records a command that is being carried out, or was before the firmware restarted.
    mutating func note(_ event: PlugEvent) {
        guard let request = event.request else { return }
        switch entries[request] {
        case .running(let waiting, _): entries[request] = .running(waiting: waiting, event: event.sequence)
        case nil: end(request, .recorded(event.sequence))
        case .finished, .recorded: break
        }
    }

    /// The outcome to answer with and who waits for it; nil for a request that is not being carried out.
    mutating func finish(_ request: RequestID, _ outcome: CommandOutcome) -> (CommandOutcome, [ConnectionID])? {
        guard case .running(let waiting, let event) = entries[request] else { return nil }
        var outcome = outcome
        if case .done(let state, event: nil) = outcome { outcome = .done(state, event: event) }
        end(request, .finished(outcome))
        return (outcome, waiting)
    }

    private mutating func end(_ request: RequestID, _ entry: Entry) {
        let before = entries.updateValue(entry, forKey: request)
        switch before {
        case nil, .running: ended.append(request)
        case .finished, .recorded: return
        }
        if ended.count > recentLimit { entries[ended.removeFirst()] = nil }
    }
}

extension PlugEvent {
    /// The command that caused it, where one did.
    var request: RequestID? {
        switch kind {
        case .relayChanged(_, cause: .controller(_, let request)),
            .protectionReset(_, cause: .controller(_, let request)):
            request
        case .relayChanged, .buttonPressed, .protectionTripped, .protectionReset, .restarted, .pairingFailed,
            .controllerPaired, .controllerRemoved:
            nil
        }
    }
}
