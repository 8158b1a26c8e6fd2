import ProtocolCore

/// The waiting multicast answers of one interface and family, and the time of each answer's last multicast.
struct AnswerQueue: Sendable {
    private struct Pending {
        /// The time from which the answer may be sent together with due answers.
        var earliest: Instant
        /// The time by which the answer must be sent.
        var due: Instant
        /// The askers; nil if an asker is unknown or there are too many. Known answers then no longer remove the
        /// answer.
        var askers: [Peer]?
        /// True if the only asker has announced more known answers (RFC 6762 §7.2).
        var isHeld = false
    }

    /// The published records bound this table: each answer has one entry.
    private var pending: [Answer: Pending] = [:]
    private var lastMulticast: [Answer: Instant] = [:]
    private(set) var deadline: Instant?

    /// The limit of askers per answer. Above it, known answers no longer remove the answer.
    private static let askerLimit = 8

    var isEmpty: Bool { pending.isEmpty }

    /// Queues an answer for the window, but not before `interval` has passed since its last multicast (RFC 6762 §6). A
    /// repeated question never delays an answer.
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

    /// Removes and returns all answers that may be sent, in order, as soon as one is due (RFC 6762 §6.4).
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

    /// Removes the answers that `asker` knows (RFC 6762 §7.2). An answer with other askers stays queued.
    mutating func suppress(for asker: Peer, where isKnown: (Answer) -> Bool) {
        for (answer, waiting) in pending where waiting.askers?.contains(asker) == true && isKnown(answer) {
            let others = waiting.askers?.filter { $0 != asker } ?? []
            if others.isEmpty { pending[answer] = nil } else { pending[answer]?.askers = others }
        }
        updateDeadline()
    }

    /// Delays the answers of `asker`, which announced more known answers (RFC 6762 §7.2). An answer with other askers
    /// is not delayed.
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

    /// Returns false within a second of the last multicast (RFC 6762 §6).
    func mayMulticast(_ answer: Answer, now: Instant) -> Bool {
        lastMulticast[answer].map { now - $0 >= RFC6762.multicastInterval } ?? true
    }

    /// Removes a group's changed answers and the times of their last multicasts, because those multicasts had different
    /// content.
    mutating func forget(_ group: GroupID, where hasChanged: (Answer.Slot) -> Bool = { _ in true }) {
        func isForgotten(_ answer: Answer) -> Bool { answer.group == group && hasChanged(answer.slot) }
        for answer in pending.keys.filter(isForgotten) { pending[answer] = nil }
        for answer in lastMulticast.keys.filter(isForgotten) { lastMulticast[answer] = nil }
        updateDeadline()
    }

    private mutating func updateDeadline() { deadline = pending.values.lazy.map(\.due).min() }
}
