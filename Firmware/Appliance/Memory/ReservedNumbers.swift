public import PlugModel
public import ProtocolCore

/// Which event numbers the plug may use: those below a boundary that stands in flash, so that no number repeats after a loss
/// of power. The boundary moves ahead long before it is reached. Events that come faster than flash answers wait for it. Where
/// flash cannot be written, takes longer than ``patience``, or does not say where the numbers stand, the plug leaps to numbers
/// so far away that it cannot have used them.
public struct ReservedNumbers: Hashable, Sendable {
    private enum Standing: Hashable {
        /// Nothing at the boundary or beyond it may be used.
        case reserved(below: SequenceNumber)
        /// No boundary covers the numbers in use; chance keeps them apart from all others. A boundary that is on its way may stand
        /// in flash before anybody knows, and after a loss of power numbers go on there: nothing at it or beyond may be used.
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
        /// When the write was asked for, and the wait after the failure before, if this is another try.
        case asked(since: Instant, after: Duration?)
        case failed(retryAt: Instant, after: Duration)
    }

    /// How far a leap goes. Even 30 leaps end below 2^53, up to which every JSON reader knows whole numbers exactly, and two
    /// leaps from the same boundary meet with a probability of one in 10^8.
    static let leapRange: ClosedRange<SequenceNumber> = 1 << 44...1 << 48
    /// How long events wait for a boundary, from when it was asked for. A write to flash may take five seconds
    /// (`PlugService.flashPatience`), and one that began before may be under way.
    static let patience = Duration.seconds(10)
    /// The waits between failed writes double from the first to the last: a broken flash is not tried at every event.
    static let firstRetry = Duration.seconds(1)
    static let longestRetry = Duration.seconds(300)
    /// A plug that is switched 300 times a day, with two events each, writes the boundary about once a day.
    public static let defaultSize: SequenceNumber = 1000

    /// Reservations that follow each other within this time double, up to the largest: a button or relay that chatters for
    /// hours does not wear the flash out.
    static let chatter = Duration.seconds(3600)
    static let largestSize: SequenceNumber = 1 << 20

    private let usualSize: SequenceNumber
    private var size: SequenceNumber
    private var askedAt: Instant?
    private var standing: Standing
    private var writing = Writing.idle

    /// - Parameters:
    ///   - boundary: what flash has; 0 if nobody knows.
    ///   - next: the number of the next event. One beyond the boundary was leapt to.
    ///   - size: how many numbers are reserved at a time.
    public init(below boundary: SequenceNumber, next: SequenceNumber, size: SequenceNumber = Self.defaultSize) {
        precondition(size > 1, "the second half is in use while the next reservation is written")
        usualSize = size
        self.size = size
        standing = boundary > 0 && next > boundary ? .leapt(below: nil) : .reserved(below: boundary)
    }

    /// When a failed write is tried again, or the patience with one that is under way ends.
    ///
    /// - Parameter isAwaited: events wait for the boundary.
    func nextDeadline(isAwaited: Bool) -> Instant? {
        switch writing {
        case .idle: nil
        case .asked(let since, _): isAwaited ? since + Self.patience : nil
        case .failed(let retryAt, _): retryAt
        }
    }

    /// The boundary that is to be written now; nil where enough is reserved or an answer is awaited.
    ///
    /// - Parameter next: the number of the first event that has not happened: those that wait come before it.
    public mutating func request(next: SequenceNumber, now: Instant) -> SequenceNumber? {
        switch writing {
        case .idle:
            let isSoon = askedAt.map { now - $0 < Self.chatter } ?? false
            // Before the question whether numbers are low: a smaller reservation must not take back in flash what a larger one gave,
            // since its numbers are used while the smaller one is written.
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

    /// The boundary that is to be written before an orderly stop: the exact next number, beyond those of events that wait.
    /// Where the power goes off with them, controllers are told that they are lost.
    func finalRequest(next: SequenceNumber) -> SequenceNumber? { standing == .reserved(below: next) ? nil : next }

    /// Flash has this boundary.
    public mutating func confirm(_ boundary: SequenceNumber, next: SequenceNumber) {
        writing = .idle
        // A leap may have come in between: then it covers none of the numbers in use.
        if boundary >= next { standing = .reserved(below: boundary) }
    }

    /// Flash could not be written.
    public mutating func fail(now: Instant) {
        guard case .asked(_, let before) = writing else { return }
        let wait = before.map { min($0 * 2, Self.longestRetry) } ?? Self.firstRetry
        writing = .failed(retryAt: now + wait, after: wait)
        if case .leapt = standing { standing = .leapt(below: nil) }
    }

    /// Whether an event has to wait for its number: the boundary above it is on its way to flash, or asked for at the end of this
    /// step, and may stand there in time.
    func mustWait(_ next: SequenceNumber, now: Instant) -> Bool {
        // Without a boundary nobody knows whether the next number was used before, and no write changes that.
        guard let boundary = standing.boundary, boundary > 0, next >= boundary else { return false }
        switch writing {
        case .idle: return true
        case .asked(let since, _): return now < since + Self.patience
        case .failed: return false
        }
    }

    /// Where the numbers go on if the next one may not be used; nil if it may.
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
