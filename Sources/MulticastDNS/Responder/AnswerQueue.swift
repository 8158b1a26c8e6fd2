import ProtocolCore

/// The multicast answers that wait on one interface and family, and when each went out last.
struct AnswerQueue: Sendable {
    private struct Pending {
        /// May go out with others from here on ...
        var earliest: Instant
        /// ... and goes out here at the latest.
        var due: Instant
        /// Who asked; nil when that no longer matters, because somebody unknown or too many did.
        var askers: [Peer]?
        /// Its only asker has announced more known answers (RFC 6762 §7.2).
        var isHeld = false
    }

    /// Bounded by the records published: one entry an answer.
    private var pending: [Answer: Pending] = [:]
    private var lastMulticast: [Answer: Instant] = [:]
    private(set) var deadline: Instant?

    /// Beyond this, known answers of one asker no longer suppress an answer that the others wait for.
    private static let askerLimit = 8

    var isEmpty: Bool { pending.isEmpty }

    /// Queues an answer to be sent within the window, but not before `interval` has passed since it was multicast last
    /// (RFC 6762 §6). Asking again never delays an answer.
    mutating func enqueue(
        _ answer: Answer, window: ClosedRange<Instant>, asker: Peer?, interval: Duration, isHeld: Bool = false
    ) {
        let allowed = lastMulticast[answer].map { $0 + interval } ?? window.lowerBound
        let earliest = max(window.lowerBound, allowed)
        let due = max(window.upperBound, allowed)
        if let waiting = pending[answer] {
            var askers = waiting.askers
            if let asker, askers?.contains(asker) == false { askers?.append(asker) }
            if asker == nil || askers?.count ?? 0 > Self.askerLimit { askers = nil }
            pending[answer] = Pending(
                earliest: min(earliest, waiting.earliest), due: min(due, waiting.due), askers: askers,
                isHeld: isHeld && waiting.isHeld && askers?.count == 1)
        } else {
            pending[answer] = Pending(earliest: earliest, due: due, askers: asker.map { [$0] }, isHeld: isHeld)
        }
        deadline = sooner(deadline, due)
    }

    /// Everything that may go out, in order, as soon as one answer must (RFC 6762 §6.4).
    mutating func takeDue(now: Instant) -> [Answer] {
        guard let deadline, deadline <= now else { return [] }
        let isDue = pending.values.contains { $0.due <= now }
        let ready = isDue ? pending.filter { $0.value.earliest <= now }.keys.sorted() : []
        for answer in ready {
            pending[answer] = nil
            lastMulticast[answer] = now
        }
        updateDeadline()
        return ready
    }

    /// RFC 6762 §7.2: `asker` says that it knows these answers. They stay queued when others asked too.
    mutating func suppress(for asker: Peer, where isKnown: (Answer) -> Bool) {
        for (answer, waiting) in pending where waiting.askers?.contains(asker) == true && isKnown(answer) {
            let others = waiting.askers?.filter { $0 != asker } ?? []
            if others.isEmpty { pending[answer] = nil } else { pending[answer]?.askers = others }
        }
        updateDeadline()
    }

    /// RFC 6762 §7.2: `asker` announces still more known answers. What others wait for too is not put off.
    mutating func hold(for asker: Peer, until due: Instant) {
        for (answer, waiting) in pending where waiting.isHeld && waiting.askers == [asker] {
            pending[answer]?.earliest = max(due, waiting.earliest)
            pending[answer]?.due = max(due, waiting.due)
        }
        updateDeadline()
    }

    mutating func cancel(_ answer: Answer) {
        if pending.removeValue(forKey: answer) != nil { updateDeadline() }
    }

    mutating func noteMulticast(_ answers: some Sequence<Answer>, now: Instant) {
        var isQueued = false
        for answer in answers {
            lastMulticast[answer] = now
            if pending.removeValue(forKey: answer) != nil { isQueued = true }
        }
        if isQueued { updateDeadline() }
    }

    func lastMulticast(of answer: Answer) -> Instant? { lastMulticast[answer] }

    /// RFC 6762 §6: false within a second of the last time.
    func mayMulticast(_ answer: Answer, now: Instant) -> Bool {
        lastMulticast[answer].map { now - $0 >= RFC6762.multicastInterval } ?? true
    }

    /// Forgets the answers of a group that have changed: what went out before was something else.
    mutating func forget(_ group: GroupID, where hasChanged: (Answer.Slot) -> Bool = { _ in true }) {
        pending = pending.filter { $0.key.group != group || !hasChanged($0.key.slot) }
        lastMulticast = lastMulticast.filter { $0.key.group != group || !hasChanged($0.key.slot) }
        updateDeadline()
    }

    private mutating func updateDeadline() { deadline = pending.values.lazy.map(\.due).min() }
}
