import ProtocolCore

/// What is done next so that somebody else gets a history: reached, asked what he has, given what he lacks, part by part, and tried again
/// where he is away.
///
/// The receiver says up to which change he has everything; only that counts. What he took while the answer was lost is known when he is
/// asked again.
struct DeliveryMachine: Machine {
    enum Event: MachineEvent, Hashable {
        case started
        /// The receiver is there and has all changes up to this number.
        case connected(after: Int64)
        /// Whether there are changes behind what the receiver has.
        case looked(hasMore: Bool)
        /// He has all changes up to this number, and there are none behind it where it is all.
        case delivered(through: Int64, isAll: Bool)
        case failed(DeliveryFault)
        case deadlineReached
    }

    enum Action: Hashable {
        /// Ends with `connected` or `failed`.
        case connect
        /// Ends with `looked` or `failed`.
        case look(after: Int64)
        /// Ends with `delivered` or `failed`.
        case deliver(after: Int64, atMost: Int)
        case tell(DeliveryNotice)
    }

    /// Changes in a part. Where a part fails the next is smaller, so that one that is too much for the receiver gets through in pieces.
    static let limits = 16...512
    static let firstPause = Duration.seconds(1)
    static let longestPause = Duration.seconds(300)

    private enum State {
        case idle
        /// Something was asked for; nil: the receiver.
        case working(after: Int64?)
        /// With the receiver, who has all up to this number.
        case waiting(after: Int64, until: Instant)
        case away(until: Instant)
    }

    /// Between two looks for something new.
    private let interval: Duration
    private var state = State.idle
    private var limit = DeliveryMachine.limits.upperBound
    private var pause = DeliveryMachine.firstPause
    private var random: SeededRandom
    /// What a person was told last.
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
            guard isAll else {
                state = .working(after: number)
                return [.deliver(after: number, atMost: limit)]
            }
            return hasAll(number, now: now)
        case .failed(let fault):
            limit = max(limit / 4, Self.limits.lowerBound)
            // Many houses at one database do not come back at once.
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

    /// What was told last is not told again, whatever its words.
    private mutating func tell(_ notice: DeliveryNotice) -> [Action] {
        guard told?.isSame(as: notice) != true else { return [] }
        defer { told = notice }
        return [.tell(notice)]
    }
}

/// Why a receiver did not take what he was given.
struct DeliveryFault: Error, Hashable {
    /// One line.
    var reason: String
    var hint: String?
    /// He is there and does not want it: nothing changes soon by itself.
    var isRefusal = false
}

/// What a person should know of a receiver.
enum DeliveryNotice: Hashable {
    case reached
    /// He has all that the history had at this moment.
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
