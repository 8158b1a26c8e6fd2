import Automation
import ProtocolCore

/// What becomes of the notifications of one receiver: which is tried when, which is tried again, and which are left out.
///
/// One is tried at a time. One that waits to be tried again holds up no other, so that what a receiver does not take for what it says
/// costs the others nothing.
struct NotificationQueue: Machine, Sendable {
    /// How a receiver answered.
    enum Answer: Hashable, Sendable {
        case taken
        case failed(String, isWorthAnotherTry: Bool)
    }

    /// Notifications are told apart by a number that rises.
    enum Event: MachineEvent, Hashable, Sendable {
        case came(UInt64)
        /// The attempt that was asked for is over.
        case answered(UInt64, Answer)
        /// Nobody waits for it any longer. An attempt that is under way is answered all the same.
        case withdrawn(UInt64)
        case deadlineReached
    }

    enum Action: Hashable, Sendable {
        /// Is to be answered, also where it is withdrawn. `leftOut`: so many before it never came to the receiver.
        case attempt(UInt64, leftOut: Int)
        case finish(UInt64, EffectOutcome)
    }

    struct Limits: Hashable, Sendable {
        /// What is waited before each further attempt; the last one again and again.
        var pauses: [Duration] = [.seconds(1), .seconds(5), .seconds(30), .seconds(120)]
        /// No attempt begins later. A little less than the rules wait for an effect, so that they are told why it failed.
        var patience = HouseRules.effectPatience - .seconds(10)
        /// Notifications that are begun within any minute: it stops a rule that fires every second from ringing a phone all night.
        var perMinute = NamedReceiver.usualPerMinute
        /// Notifications that are not through: it stops a receiver that hangs from gathering what nobody wants to read later.
        var underWay = 64

        init() {}
    }

    private static let minute = Duration.seconds(60)

    private struct Entry {
        let number: UInt64
        let until: Instant
        var due: Instant
        var attempts = 0
        /// Of the last attempt.
        var words = ""
    }

    private let limits: Limits
    /// In the order in which they came; `limits.underWay` at most.
    private var entries: [Entry] = []
    /// The one that is tried, and how many it says were left out.
    private var attempt: (number: UInt64, leftOut: Int)?
    /// When those of the last minute came; `limits.perMinute` at most.
    private var recent: [Instant] = []
    /// Nobody was told of so many.
    private var leftOut = 0

    init(_ limits: Limits = Limits()) { self.limits = limits }

    var nextDeadline: Instant? {
        let ends = entries.filter { $0.number != attempt?.number }.map(\.until).min()
        return attempt == nil ? sooner(entries.map(\.due).min(), ends) : ends
    }

    mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .came(let number): take(number, now, &actions)
        case .answered(let number, let answer): take(answer, of: number, now, &actions)
        case .withdrawn(let number): entries.removeAll { $0.number == number }
        case .deadlineReached: break
        }
        giveUp(now, &actions)
        begin(now, &actions)
        return actions
    }

    private mutating func take(_ number: UInt64, _ now: Instant, _ actions: inout [Action]) {
        recent.removeAll { $0 + Self.minute <= now }
        let refusal: String
        if recent.count >= limits.perMinute {
            refusal = "left out: more than \(limits.perMinute) within a minute"
        } else if entries.count >= limits.underWay {
            refusal = "left out: \(entries.count) others are not through yet"
        } else {
            recent.append(now)
            entries.append(Entry(number: number, until: now + limits.patience, due: now))
            return
        }
        leftOut += 1
        actions.append(.finish(number, .failed(refusal)))
    }

    private mutating func take(_ answer: Answer, of number: UInt64, _ now: Instant, _ actions: inout [Action]) {
        guard let told = attempt, told.number == number else { return }
        attempt = nil
        if answer == .taken { leftOut -= told.leftOut }
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
        switch answer {
        case .taken:
            entries.remove(at: index)
            actions.append(.finish(number, .done))
        case .failed(let words, let isWorthAnotherTry):
            let pause = limits.pauses.prefix(entries[index].attempts + 1).last
            entries[index].attempts += 1
            entries[index].words = words
            guard isWorthAnotherTry, let pause, now + pause < entries[index].until else {
                finish(entries.remove(at: index), &actions)
                return
            }
            entries[index].due = now + pause
        }
    }

    /// Those whose time is over: others took so long that they had no turn any more.
    private mutating func giveUp(_ now: Instant, _ actions: inout [Action]) {
        for entry in entries where entry.until <= now && entry.number != attempt?.number { finish(entry, &actions) }
        entries.removeAll { $0.until <= now && $0.number != attempt?.number }
    }

    private func finish(_ entry: Entry, _ actions: inout [Action]) {
        let words =
            switch entry.attempts {
            case 0: "it had no turn: those before it took too long"
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
