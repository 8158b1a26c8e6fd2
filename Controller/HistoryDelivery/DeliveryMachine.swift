import ProtocolCore

/// Determines the next step of delivering a history: connects to the receiver, requests its position, sends the missing
/// changes part by part, and retries after a failure.
///
/// Only the receiver's reported position counts. If an acknowledgement was lost, the position after the next connection
/// includes that part.
struct DeliveryMachine: Machine {
    enum Event: MachineEvent, Hashable {
        case started
        /// The receiver is connected and has all changes up to this number.
        case connected(after: Int64)
        /// The result of `look`: true if there are changes after the receiver's position.
        case looked(hasMore: Bool)
        /// The receiver has all changes up to this number, and the whole history if `isAll` is true.
        case delivered(through: Int64, isAll: Bool)
        case failed(DeliveryFault)
        case deadlineReached
    }

    enum Action: Hashable {
        /// Connects. Answered with `connected` or `failed`.
        case connect
        /// Checks for changes. Answered with `looked` or `failed`.
        case look(after: Int64)
        /// Sends a part. Answered with `delivered` or `failed`.
        case deliver(after: Int64, atMost: Int)
        /// Reports a notice to the user.
        case tell(DeliveryNotice)
    }

    /// The number of changes per part. After a failure the next part is smaller, so that a receiver that cannot handle
    /// a large part gets smaller ones.
    static let limits = 16...512
    /// The first and the longest pause after a failure.
    static let firstPause = Duration.seconds(1)
    static let longestPause = Duration.seconds(300)

    private enum State {
        case idle
        /// A request is in progress. A nil position means that the receiver is being connected.
        case working(after: Int64?)
        /// The receiver is connected and has all changes up to this number.
        case waiting(after: Int64, until: Instant)
        case away(until: Instant)
    }

    /// The interval between two checks for changes.
    private let interval: Duration
    private var state = State.idle
    private var limit = DeliveryMachine.limits.upperBound
    private var pause = DeliveryMachine.firstPause
    private var random: SeededRandom
    /// The last reported notice.
    private var told: DeliveryNotice?

    init(interval: Duration, seed: UInt64) {
        self.interval = interval
        random = SeededRandom(seed: seed)
    }

    var nextDeadline: Instant? {
        switch state {
        case .idle, .working: nil
        case .waiting(_, let until), .away(let until): until
        }
    }

    mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .started:
            state = .working(after: nil)
            return [.connect]
        case .connected(let number):
            state = .working(after: number)
            return tell(.reached) + [.look(after: number)]
        case .looked(let hasMore):
            guard case .working(let after?) = state else { return [] }
            guard !hasMore else { return [.deliver(after: after, atMost: limit)] }
            return hasAll(after, now: now)
        case .delivered(let number, let isAll):
            limit = min(limit * 2, Self.limits.upperBound)
            pause = Self.firstPause
            guard isAll else {
                state = .working(after: number)
                return [.deliver(after: number, atMost: limit)]
            }
            return hasAll(number, now: now)
        case .failed(let fault):
            limit = max(limit / 4, Self.limits.lowerBound)
            // The random delay prevents many houses from reconnecting to one database at the same time.
            state = .away(until: now + random.duration(in: pause / 2...pause))
            pause = fault.isRefusal ? Self.longestPause : min(pause * 2, Self.longestPause)
            return tell(fault.isRefusal ? .refused(fault) : .away(fault))
        case .deadlineReached:
            switch state {
            case .waiting(let after, let until) where until <= now:
                state = .working(after: after)
                return [.look(after: after)]
            case .away(let until) where until <= now:
                state = .working(after: nil)
                return [.connect]
            case .idle, .working, .waiting, .away: return []
            }
        }
    }

    private mutating func hasAll(_ number: Int64, now: Instant) -> [Action] {
        pause = Self.firstPause
        state = .waiting(after: number, until: now + interval)
        return tell(.caughtUp)
    }

    /// Returns a notice unless it is of the same kind as the last one. A refusal with a different reason is reported.
    private mutating func tell(_ notice: DeliveryNotice) -> [Action] {
        guard told?.isSame(as: notice) != true else { return [] }
        defer { told = notice }
        return [.tell(notice)]
    }
}

/// The reason why a connection or a delivery failed.
struct DeliveryFault: Error, Hashable {
    /// The reason on one line.
    var reason: String
    var hint: String?
    /// True if the receiver is connected but rejects the history, so that a retry will not succeed soon.
    var isRefusal = false
}

/// A notice about a receiver for the user.
enum DeliveryNotice: Hashable {
    case reached
    /// The receiver has all changes that the history has at this moment.
    case caughtUp
    case away(DeliveryFault)
    case refused(DeliveryFault)

    fileprivate func isSame(as other: DeliveryNotice) -> Bool {
        switch (self, other) {
        case (.reached, .reached), (.caughtUp, .caughtUp), (.away, .away): true
        case (.refused(let one), .refused(let other)): one.reason == other.reason
        case (.reached, _), (.caughtUp, _), (.away, _), (.refused, _): false
        }
    }
}
