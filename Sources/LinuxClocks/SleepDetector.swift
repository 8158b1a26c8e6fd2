/// Notices that the host was suspended, from how long it has slept since boot.
package struct SleepDetector {
    /// A nap that is shorter than any timer of the protocols, and longer than the clocks are apart while a process is preempted.
    static let shortest = Duration.seconds(1)

    private var asleep: Duration

    package init(asleep: Duration) { self.asleep = asleep }

    /// True once after each sleep.
    package mutating func hasSlept(asleep newest: Duration) -> Bool {
        guard newest - asleep >= Self.shortest else { return false }
        asleep = newest
        return true
    }
}
