import ProtocolCore

/// Decides when a script's process is started and restarted: immediately, then after 1 s, and then each time after
/// twice the pause, up to 300 s. A script that crashes at every event therefore uses little processor time. After 600 s
/// of running, the pause begins at 1 s again.
struct ScriptRestarts: Machine, Sendable {
    enum Event: MachineEvent, Hashable, Sendable {
        case deadlineReached
        /// The process ended by itself, or its script could not be loaded.
        case ended
        /// The process was ended without a fault, because its state was not stored.
        case discarded
    }

    enum Action: Hashable, Sendable {
        case start
        /// The process is restarted after this pause.
        case rest(Duration)
    }

    static let firstRest = Duration.seconds(1)
    static let longestRest = Duration.seconds(300)
    /// After a process has run for this time, its end resets the pause to ``firstRest``.
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
            // This end is not a fault. The pause limits how often a call that is refused again and again starts a
            // process.
            let rested = max(.zero, since + Self.firstRest - now)
            state = .resting(until: now + rested)
            return [.rest(rested)]
        case (.deadlineReached, .running), (.ended, .resting), (.discarded, .resting): return []
        }
    }
}
