import ProtocolCore

/// A recording during playback, from a start time on, faster or slower than real time.
///
/// A recording with dates repeats after its last day; one without dates holds its last value forever.
public struct Playback: Hashable, Sendable {
    private let recording: Recording
    private let start: Int64
    private let speed: Double

    /// The maximum speed factor: a day in less than nine seconds.
    public static let speedLimit = 10_000.0

    /// Creates a playback.
    ///
    /// - Parameters:
    ///   - from: the position at which the playback begins, in milliseconds of the recording's own time; nil for the
    ///     recording's first point.
    ///   - speed: the speed factor, above 0 up to ``speedLimit``.
    /// - Returns: nil if the speed is outside that range.
    public init?(_ recording: Recording, from: Int64? = nil, speed: Double = 1) {
        guard speed > 0, speed <= Self.speedLimit else { return nil }
        self.recording = recording
        start = from ?? recording.points[0].milliseconds
        self.speed = speed
    }

    /// Returns the position after this time of playback, in milliseconds of the recording's own time.
    public func position(after elapsed: Duration) -> Int64 {
        // The limit of about a hundred thousand years prevents an overflow of the milliseconds.
        let played = min(max(0, elapsed.inSeconds * speed * 1000), 3e15)
        let position = start + Int64(played)
        guard recording.day != nil else { return position }
        let dayLength: Int64 = 86_400_000
        let last = recording.points[recording.points.count - 1].milliseconds
        return position % ((last / dayLength + 1) * dayLength)
    }

    /// Returns the active power after this time of playback, in tenths of a watt.
    public func deciwatts(after elapsed: Duration) -> Int32 { recording.deciwatts(at: position(after: elapsed)) }
}

/// A time of day for `--from`.
public enum TimeOfDay {
    /// Returns milliseconds since midnight for `HH:MM` or `HH:MM:SS`, or nil for any other text.
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
