/// A point on a monotonic clock that keeps counting through suspend: nanoseconds since boot on a real host
/// (CLOCK_BOOTTIME), since the start of the run in the simulated LAN. Instants of different boots cannot be compared.
public struct Instant: InstantProtocol, Sendable {
    /// The nanoseconds since the start of the clock.
    public var nanoseconds: Int64

    /// Creates an instant from the nanoseconds since the start of the clock.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The start of the clock.
    public static let zero = Instant(nanoseconds: 0)

    /// Saturates instead of trapping, so that an infinite deadline can be computed from any instant.
    public func advanced(by duration: Duration) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        guard overflow else { return Instant(nanoseconds: sum) }
        return Instant(nanoseconds: duration < .zero ? .min : .max)
    }

    /// Returns the time from this instant to the other one; negative if the other one is earlier.
    public func duration(to other: Instant) -> Duration {
        .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
    }

    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
    public static func + (left: Instant, right: Duration) -> Instant { left.advanced(by: right) }
    public static func - (left: Instant, right: Duration) -> Instant { left.advanced(by: .zero - right) }
    public static func - (left: Instant, right: Instant) -> Duration { right.duration(to: left) }
}

extension Duration {
    /// The duration in nanoseconds, rounded towards zero and clamped to 64 bits (292 years).
    public var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

    /// The duration in seconds as a floating-point number, for printing and arithmetic on measurements.
    public var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
