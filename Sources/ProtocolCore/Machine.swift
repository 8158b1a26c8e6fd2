/// A protocol as a value: what happened goes in, what to do comes out.
///
/// The shell waits for input or for ``nextDeadline``, calls ``handle(_:now:)`` and performs the actions in order. A machine
/// starts no timer, holds no socket and reads no clock, so the same value runs on a board, in virtual time and under a
/// fuzzer. `now` never runs backwards between two calls.
public protocol Machine {
    associatedtype Event: MachineEvent
    associatedtype Action

    mutating func handle(_ event: Event, now: Instant) -> [Action]

    /// When the machine wants ``MachineEvent/deadlineReached`` if nothing else happens before; nil when it waits for input
    /// alone. A deadline in the past asks to be called at once.
    var nextDeadline: Instant? { get }
}

/// What every machine's event type has in common: a case `deadlineReached`.
public protocol MachineEvent {
    static var deadlineReached: Self { get }
}

/// The sooner of two deadlines, where nil means never.
public func sooner(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
}
