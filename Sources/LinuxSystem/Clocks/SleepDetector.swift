/// Detects suspensions of the host from its total time of suspension since boot.
package struct SleepDetector {
    /// The shortest detected time of suspension. It is longer than the difference that CLOCK_BOOTTIME and
    /// CLOCK_MONOTONIC can show when the process is preempted between the two system calls that read them.
    static let shortest = Duration.seconds(1)

    private var asleep: Duration

    /// Creates a detector with the current total time of suspension.
    package init(asleep: Duration) { self.asleep = asleep }

    /// Returns true if the host was suspended for at least 1 s in total since the last result of true, or since the
    /// creation of the detector.
    package mutating func hasSlept(asleep newest: Duration) -> Bool {
        guard newest - asleep >= Self.shortest else { return false }
        asleep = newest
        return true
    }
}
