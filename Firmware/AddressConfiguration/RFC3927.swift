public import DNSWire

/// The constants of RFC 3927 §9 (RFC 5227 §1.1 has the same for claiming any address) and §2.1.
public enum RFC3927 {
    public static let probeWait = Duration.seconds(1)
    public static let probeCount = 3
    public static let probeGap = Duration.seconds(1)...Duration.seconds(2)
    public static let announceWait = Duration.seconds(2)
    public static let announceCount = 2
    public static let announceInterval = Duration.seconds(2)
    public static let maximumConflicts = 10
    public static let rateLimitInterval = Duration.seconds(60)
    public static let defendInterval = Duration.seconds(10)

    /// The network 169.254/16 (§2.1).
    public static let prefix = IPv4Address(169, 254, 0, 0)
    public static let prefixLength: UInt8 = 16
    /// The range 169.254/16 without its first and last 256 addresses, which are reserved (§2.1).
    public static let first = IPv4Address(169, 254, 1, 0)
    public static let last = IPv4Address(169, 254, 254, 255)
}
