/// A time zone as a value: how far local time is ahead of UTC over the span at hand. The caller looks it up.
public struct ZoneOffsets: Hashable, Sendable {
    /// From `time` (seconds since 1970, UTC) on, local time is `seconds` ahead of UTC.
    public struct Transition: Hashable, Sendable {
        public var time: Double
        public var seconds: Int

        public init(time: Double, seconds: Int) {
            self.time = time
            self.seconds = seconds
        }
    }

    /// Seconds east of UTC before the first transition.
    public let initial: Int
    /// Ascending in time.
    public let transitions: [Transition]

    public static let utc = ZoneOffsets(initial: 0)

    public init(initial: Int, transitions: [Transition] = []) {
        self.initial = initial
        self.transitions = transitions.sorted { $0.time < $1.time }
    }

    /// Seconds east of UTC at that time.
    public func offset(at time: Double) -> Int {
        transitions.last { $0.time <= time }?.seconds ?? initial
    }

    /// The parts of a time within which the offset does not change; the last one includes `to`.
    public func spans(from: Double, to: Double) -> [(from: Double, to: Double, offset: Int)] {
        let inside = transitions.filter { $0.time > from && $0.time <= to }
        let starts = [from] + inside.map(\.time)
        let ends = inside.map(\.time) + [to.nextUp]
        return zip(starts, ends).map { ($0, $1, offset(at: $0)) }
    }
}
