/// The UTC offsets of a time zone over a span of time, as a value. The creator of the value reads them from the time
/// zone database.
public struct ZoneOffsets: Hashable, Sendable {
    /// A change of the offset.
    public struct Transition: Hashable, Sendable {
        /// The time of the change in seconds since 1970, UTC.
        public var time: Double
        /// The seconds by which local time is ahead of UTC from this time on.
        public var seconds: Int

        /// Creates a transition.
        public init(time: Double, seconds: Int) {
            self.time = time
            self.seconds = seconds
        }
    }

    /// Seconds east of UTC before the first transition.
    public let initial: Int
    /// The changes of the offset, ascending in time.
    public let transitions: [Transition]

    /// The time zone UTC, without transitions.
    public static let utc = ZoneOffsets(initial: 0)

    /// Creates the offsets. Sorts the transitions.
    public init(initial: Int, transitions: [Transition] = []) {
        self.initial = initial
        self.transitions = transitions.sorted { $0.time < $1.time }
    }

    /// Returns the seconds east of UTC at a time in seconds since 1970, UTC.
    public func offset(at time: Double) -> Int {
        transitions.last { $0.time <= time }?.seconds ?? initial
    }

    /// Returns the spans with a constant offset within a range. The end of a span is excluded, and the last span ends
    /// just after the parameter `to`, so it contains `to`.
    public func spans(from: Double, to: Double) -> [(from: Double, to: Double, offset: Int)] {
        let inside = transitions.filter { $0.time > from && $0.time <= to }
        let starts = [from] + inside.map(\.time)
        let ends = inside.map(\.time) + [to.nextUp]
        return zip(starts, ends).map { ($0, $1, offset(at: $0)) }
    }
}
