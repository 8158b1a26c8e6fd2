import Automation
import DurableRules
import ProtocolCore

/// Schedules the delivery of notifications to one receiver: decides when each notification is attempted, retried or
/// dropped.
///
/// One notification is attempted at a time. A notification that waits for a retry does not block the others. A
/// notification that the receiver rejects because of its content therefore delays no other notification.
struct NotificationQueue: Machine, Sendable {
    /// The result of one attempt.
    enum Answer: Hashable, Sendable {
        case taken
        /// - Parameter after: the minimum time until the next attempt, as the receiver requests it.
        case failed(String, isRetryable: Bool, after: Duration = .zero)
    }

    /// An event. Each notification has its own number; a later notification has a greater one.
    enum Event: MachineEvent, Hashable, Sendable {
        case came(UInt64)
        /// The attempt that was requested has ended.
        case answered(UInt64, Answer)
        /// The caller no longer waits for the notification. An attempt that is running is still answered.
        case withdrawn(UInt64)
        case deadlineReached
    }

    enum Action: Hashable, Sendable {
        /// Requests an attempt. It must be answered, even if the notification is withdrawn. `leftOut` is the number of
        /// notifications that were dropped on arrival, and that no notification that reached the receiver has mentioned
        /// yet.
        case attempt(UInt64, leftOut: Int)
        case finish(UInt64, EffectOutcome)
    }

    struct Limits: Hashable, Sendable {
        /// The pauses before further attempts; the last pause repeats.
        var pauses: [Duration] = [.seconds(1), .seconds(5), .seconds(30), .seconds(120)]
        /// The time after which no attempt begins. It is ten seconds shorter than the time that rules wait for an
        /// effect, so that they still get the reason of the failure.
        var patience = DurableRuleEngine.effectPatience - .seconds(10)
        /// The maximum number of notifications that enter the queue within any minute. It limits how often a
        /// rule that fires every second rings a phone.
        var perMinute = NamedReceiver.usualPerMinute
        /// The maximum number of unfinished notifications. The limit stops outdated notifications from accumulating in
        /// the queue of a receiver that hangs.
        var underWay = 64

        init() {}
    }

    private static let minute = Duration.seconds(60)

    private struct Entry {
        let number: UInt64
        let until: Instant
        var due: Instant
        var attempts = 0
        /// The error of the last attempt.
        var words = ""
    }

    private let limits: Limits
    /// The unfinished notifications in the order of their arrival; at most `limits.underWay`.
    private var entries: [Entry] = []
    /// The current attempt, and the number of dropped notifications that it reports.
    private var attempt: (number: UInt64, leftOut: Int)?
    /// The times at which notifications entered the queue within the last minute; at most `limits.perMinute`.
    private var recent: [Instant] = []
    /// The number of notifications that were dropped on arrival, and that no notification that reached the receiver has
    /// mentioned yet.
    private var leftOut = 0

    init(_ limits: Limits = Limits()) { self.limits = limits }

    var nextDeadline: Instant? {
        let ends = entries.filter { $0.number != attempt?.number }.map(\.until).min()
        return attempt == nil ? sooner(entries.map(\.due).min(), ends) : ends
    }

    mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .came(let number): handle(number, now, &actions)
        case .answered(let number, let answer): handle(answer, of: number, now, &actions)
        case .withdrawn(let number): entries.removeAll { $0.number == number }
        case .deadlineReached: break
        }
        giveUp(now, &actions)
        begin(now, &actions)
        return actions
    }

    private mutating func handle(_ number: UInt64, _ now: Instant, _ actions: inout [Action]) {
        recent.removeAll { $0 + Self.minute <= now }
        let refusal: String
        if recent.count >= limits.perMinute {
            refusal = "dropped: more than \(limits.perMinute) within a minute"
        } else if entries.count >= limits.underWay {
            refusal = "dropped: \(entries.count) others are still waiting"
        } else {
            recent.append(now)
            entries.append(Entry(number: number, until: now + limits.patience, due: now))
            return
        }
        leftOut += 1
        actions.append(.finish(number, .failed(refusal)))
    }

    private mutating func handle(_ answer: Answer, of number: UInt64, _ now: Instant, _ actions: inout [Action]) {
        guard let told = attempt, told.number == number else { return }
        attempt = nil
        if answer == .taken { leftOut -= told.leftOut }
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
        switch answer {
        case .taken:
            entries.remove(at: index)
            actions.append(.finish(number, .done))
        case .failed(let words, let isRetryable, let requested):
            let pause = limits.pauses.prefix(entries[index].attempts + 1).last.map { max($0, requested) }
            entries[index].attempts += 1
            entries[index].words = words
            guard isRetryable, let pause, now + pause < entries[index].until else {
                finish(entries.remove(at: index), &actions)
                return
            }
            entries[index].due = now + pause
        }
    }

    /// Finishes the notifications whose time has expired while others were attempted.
    private mutating func giveUp(_ now: Instant, _ actions: inout [Action]) {
        for entry in entries where entry.until <= now && entry.number != attempt?.number { finish(entry, &actions) }
        entries.removeAll { $0.until <= now && $0.number != attempt?.number }
    }

    private func finish(_ entry: Entry, _ actions: inout [Action]) {
        let words =
            switch entry.attempts {
            case 0: "it was not sent because earlier notifications took too long"
            case 1: entry.words
            case let count: "\(entry.words) (tried \(count) times)"
            }
        actions.append(.finish(entry.number, .failed(words)))
    }

    private mutating func begin(_ now: Instant, _ actions: inout [Action]) {
        guard attempt == nil, let next = entries.first(where: { $0.due <= now }) else { return }
        attempt = (next.number, leftOut)
        actions.append(.attempt(next.number, leftOut: leftOut))
    }
}
