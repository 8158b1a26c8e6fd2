public import DNSWire

/// The constants of RFC 3927 §9 (RFC 5227 §1.1 has the same for claiming any address) and §2.1.
public enum RFC3927 {
    /// PROBE_WAIT: the longest random delay before the first probe.
    public static let probeWait = Duration.seconds(1)
    /// PROBE_NUM: the number of probes.
    public static let probeCount = 3
    /// PROBE_MIN and PROBE_MAX: the random delay between two probes.
    public static let probeGap = Duration.seconds(1)...Duration.seconds(2)
    /// ANNOUNCE_WAIT: the delay between the last probe and the first announcement.
    public static let announceWait = Duration.seconds(2)
    /// ANNOUNCE_NUM: the number of announcements.
    public static let announceCount = 2
    /// ANNOUNCE_INTERVAL: the time between two announcements.
    public static let announceInterval = Duration.seconds(2)
    /// MAX_CONFLICTS: the number of conflicts after which claims are rate-limited.
    public static let maximumConflicts = 10
    /// RATE_LIMIT_INTERVAL: the minimum time between two claims while they are rate-limited.
    public static let rateLimitInterval = Duration.seconds(60)
    /// DEFEND_INTERVAL: the time after a defence within which a further conflict ends the claim.
    public static let defendInterval = Duration.seconds(10)

    /// The network 169.254/16 (§2.1).
    public static let prefix = IPv4Address(169, 254, 0, 0)
    /// The length of the network part of 169.254/16 in bits.
    public static let prefixLength: UInt8 = 16
    /// The first usable address of 169.254/16. The first and last 256 addresses are reserved (§2.1).
    public static let first = IPv4Address(169, 254, 1, 0)
    /// The last usable address of 169.254/16.
    public static let last = IPv4Address(169, 254, 254, 255)
}
