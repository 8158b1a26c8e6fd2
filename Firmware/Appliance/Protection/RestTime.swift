import ProtocolCore

/// The source of a request to turn on that waits for the end of the rest time.
public enum DelayedStart: UInt8, Hashable, Sendable, CaseIterable {
    /// The button was pressed.
    case button = 1
    /// The power-on state requires the relay to be on.
    case powerOn = 2
}

/// The minimum time between turning off and turning on, which a compressor needs to release its pressure.
struct RestTime: Sendable {
    private let duration: Duration?
    /// When the relay opened, or nil while it is closed.
    private(set) var offSince: Instant?
    /// The request to turn on at the end of the rest time, or nil.
    private(set) var delayed: DelayedStart?
    /// True if this rest has already been reported as the reason for a relay that stays open.
    private var isTold = false

    init(_ duration: Duration?) { self.duration = duration }

    /// Returns the remaining rest time, or nil if the relay may turn on.
    func left(_ now: Instant) -> Duration? {
        guard let duration, let offSince else { return nil }
        let left = offSince + duration - now
        return left > .zero ? left : nil
    }

    /// When the relay turns on automatically.
    var nextDeadline: Instant? {
        guard delayed != nil, let offSince else { return nil }
        return offSince + (duration ?? .zero)
    }

    /// Begins the rest time, because the relay opened or may have opened.
    mutating func begin(_ now: Instant) {
        (offSince, delayed, isTold) = (now, nil, false)
    }

    /// Ends the rest time, because the relay closed.
    mutating func end() { (offSince, delayed) = (nil, nil) }

    /// Continues the rest time of the previous process.
    mutating func restore(offSince: Instant, delayed: DelayedStart?, now: Instant) {
        self.offSince = min(offSince, now)
        self.delayed = delayed
        isTold = delayed != nil
    }

    /// Returns true only for the first call during a rest time, so that each rest is reported once.
    mutating func tell() -> Bool {
        defer { isTold = true }
        return !isTold
    }

    mutating func delay(_ start: DelayedStart) { delayed = start }
    mutating func cancel() { delayed = nil }
}
