/// How long a claim listens before the address is used.
public struct ClaimTiming: Hashable, Sendable {
    /// Before the first probe.
    public let firstWait: ClosedRange<Duration>
    /// Between two probes.
    public let gap: ClosedRange<Duration>
    /// From the last probe until the address may be used.
    public let lastWait: Duration

    /// For an address that nobody vouches for: 4 to 7 s, 5.5 s on average (RFC 3927 §2.2.1).
    public static let linkLocal = ClaimTiming(
        firstWait: .zero...RFC3927.probeWait, gap: RFC3927.probeGap, lastWait: RFC3927.announceWait)

    /// For an address that a DHCP server leases: the server knows that it is free, and DHCP has spread the starts already. Three
    /// probes, so that two of them may be lost; 600 ms in all, which a card answers in even when it has to wake up.
    public static let leased = ClaimTiming(
        firstWait: .zero ... .zero, gap: .milliseconds(200) ... .milliseconds(200), lastWait: .milliseconds(200))
}
