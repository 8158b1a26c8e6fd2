import ProtocolCore

/// A recording as it is played: from a time on, faster or slower than life.
///
/// A recording with dates begins again after its last day; one without holds its last value for ever.
public struct Playback: Hashable, Sendable {
    private let recording: Recording
    private let start: Int64
    private let speed: Double

    /// How many times faster than life a recording can be played: a day in less than nine seconds.
    public static let speedLimit = 10_000.0

    /// - Parameters:
    ///   - from: where to begin, in milliseconds of the recording's own time; nil: at its first point.
    ///   - speed: above 0 to ``speedLimit``; its time stamps are that much closer together.
    /// - Returns: nil for a speed outside that range.
    public init?(_ recording: Recording, from: Int64? = nil, speed: Double = 1) {
        guard speed > 0, speed <= Self.speedLimit else { return nil }
        self.recording = recording
        start = from ?? recording.points[0].milliseconds
        self.speed = speed
    }

    /// Where in the recording playing has come to, in milliseconds of the recording's own time.
    public func position(after elapsed: Duration) -> Int64 {
        // A thousand centuries are enough; beyond them a whole number of milliseconds would overflow.
        let played = min(max(0, elapsed.inSeconds * speed * 1000), 3e15)
        let position = start + Int64(played)
        guard recording.day != nil else { return position }
        let dayLength: Int64 = 86_400_000
        let last = recording.points[recording.points.count - 1].milliseconds
        return position % ((last / dayLength + 1) * dayLength)
    }

    /// Active power in tenths of a watt.
    public func deciwatts(after elapsed: Duration) -> Int32 { recording.deciwatts(at: position(after: elapsed)) }
}

/// A time of day as it is written behind `--from`.
public enum TimeOfDay {
    /// Milliseconds since midnight of `HH:MM` or `HH:MM:SS`; nil if the text is neither.
    public static func milliseconds(_ text: String) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part -> Int64? in
            part.utf8.count == 2 && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(part) : nil
        }
        guard numbers.count == parts.count, numbers.count == 2 || numbers.count == 3, numbers[0] < 24,
            numbers[1...].allSatisfy({ $0 < 60 })
        else { return nil }
        return (numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)) * 1000
    }
}
