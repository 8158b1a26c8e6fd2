/// The delays of a claim before the address is used.
public struct ClaimTiming: Hashable, Sendable {
    /// The wait before the first probe.
    public let firstWait: ClosedRange<Duration>
    /// The interval between two probes.
    public let gap: ClosedRange<Duration>
    /// The wait from the last probe until the address may be used.
    public let lastWait: Duration

    /// The delays for an address without a server: 4 to 7 s, 5.5 s on average (RFC 3927 §2.2.1).
    public static let linkLocal = ClaimTiming(
        firstWait: .zero...RFC3927.probeWait, gap: RFC3927.probeGap, lastWait: RFC3927.announceWait)

    /// The delays for an address from a DHCP server. The server offers only free addresses, and DHCP has already spread
    /// the start times of hosts. Three probes tolerate two losses; within 600 ms in total even a sleeping card wakes up
    /// and answers.
    public static let leased = ClaimTiming(
        firstWait: .zero ... .zero, gap: .milliseconds(200) ... .milliseconds(200), lastWait: .milliseconds(200))
}
