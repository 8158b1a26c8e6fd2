/// The state machine of a protocol as a value: it receives events and returns actions.
///
/// The shell waits for input or for ``nextDeadline``, calls ``handle(_:now:)`` and performs the actions in order. A
/// machine starts no timer, holds no socket and reads no clock, so the same value runs on a board, in virtual time and
/// under a fuzzer. `now` never runs backwards between two calls.
public protocol Machine {
    associatedtype Event: MachineEvent
    associatedtype Action

    /// Handles an event and returns the actions, in the order in which the shell performs them.
    mutating func handle(_ event: Event, now: Instant) -> [Action]

    /// The time at which the machine needs ``MachineEvent/deadlineReached`` if no other event occurs earlier; nil if it
    /// only waits for input. A deadline in the past requests an immediate call.
    var nextDeadline: Instant? { get }
}

/// The requirement on every machine's event type: a case `deadlineReached`.
public protocol MachineEvent {
    static var deadlineReached: Self { get }
}

/// Returns the sooner of two deadlines; nil means never.
public func sooner(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
}
