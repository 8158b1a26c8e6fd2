import ProtocolCore

/// When a script's process is started, and when again after it has ended: at once, then after 1 s, and each time after twice as long, so
/// that a script that dies of every event takes little of the house's time. A process that has lived for long is forgiven.
struct ScriptRestarts: Machine, Sendable {
    enum Event: MachineEvent, Hashable, Sendable {
        case deadlineReached
        case ended
        /// Nothing is wrong with it, but its memory is not wanted.
        case discarded
    }

    enum Action: Hashable, Sendable {
        case start
        /// It is started again after so long.
        case rest(Duration)
    }

    static let firstRest = Duration.seconds(1)
    static let longestRest = Duration.seconds(300)
    /// So long it has to live until its end counts as the first.
    static let peace = Duration.seconds(600)

    private enum State {
        case resting(until: Instant)
        case running(since: Instant)
    }

    private var state: State
    private var rest = Self.firstRest

    init(now: Instant) { state = .resting(until: now) }

    var nextDeadline: Instant? {
        switch state {
        case .resting(let end): end
        case .running: nil
        }
    }

    mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch (event, state) {
        case (.deadlineReached, .resting(let end)):
            guard now >= end else { return [] }
            state = .running(since: now)
            return [.start]
        case (.ended, .running(let since)):
            if now - since >= Self.peace { rest = Self.firstRest }
            let rested = rest
            rest = min(rest * 2, Self.longestRest)
            state = .resting(until: now + rested)
            return [.rest(rested)]
        case (.discarded, .running(let since)):
            // No fault to be forgiven; but a call that is refused each time is not to start a process each time.
            let rested = max(.zero, since + Self.firstRest - now)
            state = .resting(until: now + rested)
            return [.rest(rested)]
        case (.deadlineReached, .running), (.ended, .resting), (.discarded, .resting): return []
        }
    }
}
