public import ProtocolCore

/// The attempt to wake one machine by magic packets: sends them with growing pauses until the machine answers.
public struct WakeAttempt: Machine, Sendable {
    /// The events of an attempt.
    public enum Event: MachineEvent, Sendable {
        /// The machine's card answered, this long ago.
        case answered(ago: Duration)
        case deadlineReached
    }

    /// The actions for the shell.
    public enum Action: Hashable, Sendable {
        /// Sends the magic packet.
        case send
        /// Checks whether the machine's card answers.
        case check
        case finished(WakeOutcome)
    }

    /// The pauses after each magic packet. The first packets can be lost, because many switches and cards reduce their
    /// speed while the machine sleeps.
    private static let pauses: [Duration] = [.milliseconds(500), .seconds(2), .seconds(5), .seconds(10)]
    /// The interval of the checks.
    private static let interval = Duration.seconds(1)

    private let start: Instant
    private let end: Instant
    private var nextPacket: Instant?
    private var pauses = Self.pauses[...]
    private var nextCheck: Instant
    private var isFinished = false

    /// Starts an attempt, whose first deadline is `now`.
    ///
    /// - Parameter limit: the time after which the attempt fails.
    public init(now: Instant, limit: Duration) {
        start = now
        end = now + limit
        nextPacket = now
        nextCheck = now
    }

    public var nextDeadline: Instant? { isFinished ? nil : sooner(end, sooner(nextPacket, nextCheck)) }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        guard !isFinished else { return [] }
        switch event {
        // An answer from before the attempt may be from before the machine's sleep.
        case .answered(let ago) where now - ago >= start: return finish(.awake(after: now - ago - start))
        case .answered, .deadlineReached: break
        }
        guard now < end else { return finish(.didNotWake) }
        var actions: [Action] = []
        if let due = nextPacket, due <= now {
            actions.append(.send)
            nextPacket = pauses.popFirst().map { now + $0 }
        }
        if nextCheck <= now {
            actions.append(.check)
            nextCheck = now + Self.interval
        }
        return actions
    }

    private mutating func finish(_ outcome: WakeOutcome) -> [Action] {
        isFinished = true
        return [.finished(outcome)]
    }
}

/// The result of an attempt to wake a machine.
public enum WakeOutcome: Hashable, Sendable, CustomStringConvertible {
    /// The machine answered this long after the first magic packet.
    case awake(after: Duration)
    /// The machine did not answer within the time limit.
    case didNotWake

    public var description: String {
        switch self {
        case .awake(let time): "awake after \(time.inWords)"
        case .didNotWake: "did not wake"
        }
    }
}
