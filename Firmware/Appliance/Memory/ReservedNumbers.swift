public import PlugModel
public import ProtocolCore

/// Determines which event numbers the plug may use. Only numbers below a boundary in flash may be used, so that no
/// number repeats after a loss of power. The boundary is moved long before it is reached. Events wait if they are
/// faster than flash. If flash fails, takes longer than ``patience`` or has no valid boundary, the plug skips ahead
/// ("leaps") to random numbers so high that it has almost certainly not used them.
public struct ReservedNumbers: Hashable, Sendable {
    private enum Standing: Hashable {
        /// Numbers at the boundary or above must not be used.
        case reserved(below: SequenceNumber)
        /// The plug skipped ahead: no boundary covers the numbers in use, and only chance keeps them unique. `below` is
        /// the boundary whose write is in progress, or nil. Flash may already contain it, and the plug would continue
        /// at it after a loss of power, so numbers at or above it must not be used.
        case leapt(below: SequenceNumber?)

        var boundary: SequenceNumber? {
            switch self {
            case .reserved(let boundary): boundary
            case .leapt(let boundary): boundary
            }
        }
    }

    private enum Writing: Hashable {
        case idle
        /// A write was requested at `since`. `after` is the wait before this attempt, or nil for the first attempt.
        case asked(since: Instant, after: Duration?)
        case failed(retryAt: Instant, after: Duration)
    }

    /// The number of event numbers that are skipped at once. Even after 30 skips, the numbers stay below 2^53, up to
    /// which JSON parsers represent integers exactly. Two skips from the same boundary end less than a million numbers
    /// apart with a probability of less than 1 in 10^8.
    static let leapRange: ClosedRange<SequenceNumber> = 1 << 44...1 << 48
    /// How long events wait for a requested boundary. A write to flash may take five seconds
    /// (`PlugService.flashPatience`), and an earlier write may be in progress.
    static let patience = Duration.seconds(10)
    /// The wait after a failed write doubles from the first value to the longest, so that a broken flash is not tried
    /// at every event.
    static let firstRetry = Duration.seconds(1)
    static let longestRetry = Duration.seconds(300)
    /// The default number of event numbers per reservation. A plug whose relay switches 300 times per day, with two
    /// events each time, writes the boundary about once per day.
    public static let defaultSize: SequenceNumber = 1000

    /// Reservations that follow the previous one within this time double in size, up to the largest. So a button or
    /// relay that chatters for hours does not wear out the flash.
    static let chatter = Duration.seconds(3600)
    static let largestSize: SequenceNumber = 1 << 20

    private let usualSize: SequenceNumber
    private var size: SequenceNumber
    private var askedAt: Instant?
    private var standing: Standing
    private var writing = Writing.idle

    /// Creates the state when the firmware starts.
    /// - Parameters:
    ///   - boundary: The boundary that flash has stored, or 0 if it is unknown.
    ///   - next: The number of the next event. A number above the boundary means that the plug skipped ahead.
    ///   - size: The usual number of event numbers per reservation, at least 2.
    public init(below boundary: SequenceNumber, next: SequenceNumber, size: SequenceNumber = Self.defaultSize) {
        precondition(size > 1, "a reservation must have at least two numbers")
        usualSize = size
        self.size = size
        standing = boundary > 0 && next > boundary ? .leapt(below: nil) : .reserved(below: boundary)
    }

    /// Returns when a failed write is retried, or when events stop waiting for the write in progress.
    ///
    /// - Parameter isAwaited: True if events wait for the boundary.
    func nextDeadline(isAwaited: Bool) -> Instant? {
        switch writing {
        case .idle: nil
        case .asked(let since, _): isAwaited ? since + Self.patience : nil
        case .failed(let retryAt, _): retryAt
        }
    }

    /// Returns the boundary to write now, or nil if enough numbers are reserved or a write is in progress.
    ///
    /// - Parameter next: The number after those of all events that happened, including events that wait.
    public mutating func request(next: SequenceNumber, now: Instant) -> SequenceNumber? {
        switch writing {
        case .idle:
            let isSoon = askedAt.map { now - $0 < Self.chatter } ?? false
            // The size is reset before `isLow` uses it. If the check used a larger size than the request, the request
            // could lower the stored boundary, and the plug may use numbers above the new boundary until the write is
            // complete.
            if !isSoon { size = usualSize }
            guard isLow(next) else { return nil }
            if isSoon { size = min(size * 2, Self.largestSize) }
            askedAt = now
            writing = .asked(since: now, after: nil)
        case .failed(let retryAt, let wait) where retryAt <= now && isLow(next):
            writing = .asked(since: now, after: wait)
        case .asked, .failed: return nil
        }
        if case .leapt = standing { standing = .leapt(below: next + size) }
        return next + size
    }

    /// Returns the boundary to write before an orderly stop: the number after those of all events, including waiting
    /// ones. Nil if flash has this boundary. If the power fails while events wait, controllers detect the lost events
    /// by the gap in the numbers.
    func finalRequest(next: SequenceNumber) -> SequenceNumber? { standing == .reserved(below: next) ? nil : next }

    /// Handles a completed write of this boundary.
    public mutating func confirm(_ boundary: SequenceNumber, next: SequenceNumber) {
        writing = .idle
        // If the plug skipped ahead in the meantime, the boundary covers none of the numbers in use.
        if boundary >= next { standing = .reserved(below: boundary) }
    }

    /// Handles a failed write.
    public mutating func fail(now: Instant) {
        guard case .asked(_, let before) = writing else { return }
        let wait = before.map { min($0 * 2, Self.longestRetry) } ?? Self.firstRetry
        writing = .failed(retryAt: now + wait, after: wait)
        if case .leapt = standing { standing = .leapt(below: nil) }
    }

    /// Returns true if an event must wait for its number, because the boundary above it is being written or will be
    /// requested at the end of this step.
    func mustWait(_ next: SequenceNumber, now: Instant) -> Bool {
        // With an unknown boundary, the next number may have been used before, and a write cannot change that.
        guard let boundary = standing.boundary, boundary > 0, next >= boundary else { return false }
        switch writing {
        case .idle: return true
        case .asked(let since, _): return now < since + Self.patience
        case .failed: return false
        }
    }

    /// Returns the number to continue with if the next one must not be used, or nil if it may be used.
    mutating func leap(from next: SequenceNumber, using random: inout SeededRandom) -> SequenceNumber? {
        guard let boundary = standing.boundary, next >= boundary else { return nil }
        standing = .leapt(below: nil)
        return next + SequenceNumber.random(in: Self.leapRange, using: &random)
    }

    private func isLow(_ next: SequenceNumber) -> Bool {
        switch standing {
        case .reserved(let boundary): next + size / 2 >= boundary
        case .leapt: true
        }
    }
}
