import ProtocolCore

/// Who wanted the relay on while it rests, and gets it when the rest ends.
public enum DelayedStart: UInt8, Hashable, Sendable, CaseIterable {
    case button = 1
    case powerOn = 2
}

/// The time that a compressor needs between turning off and turning on, for the pressure in it to fall.
struct RestTime: Sendable {
    private let duration: Duration?
    /// When the relay opened.
    private(set) var offSince: Instant?
    /// The relay turns on by itself when the rest ends.
    private(set) var delayed: DelayedStart?
    /// Somebody was told already that this rest keeps the relay open.
    private var isTold = false

    init(_ duration: Duration?) { self.duration = duration }

    /// What is left of it; nil: the relay may turn on.
    func left(_ now: Instant) -> Duration? {
        guard let duration, let offSince else { return nil }
        let left = offSince + duration - now
        return left > .zero ? left : nil
    }

    /// When the relay turns on by itself.
    var nextDeadline: Instant? {
        guard delayed != nil, let offSince else { return nil }
        return offSince + (duration ?? .zero)
    }

    /// The relay opened, or may have.
    mutating func begin(_ now: Instant) {
        (offSince, delayed, isTold) = (now, nil, false)
    }

    /// The relay closed.
    mutating func end() { (offSince, delayed) = (nil, nil) }

    /// Goes on where the process before was killed.
    mutating func restore(offSince: Instant, delayed: DelayedStart?, now: Instant) {
        self.offSince = min(offSince, now)
        self.delayed = delayed
        isTold = delayed != nil
    }

    /// True the first time that this rest keeps the relay open.
    mutating func tell() -> Bool {
        defer { isTold = true }
        return !isTold
    }

    mutating func delay(_ start: DelayedStart) { delayed = start }
    mutating func cancel() { delayed = nil }
}
