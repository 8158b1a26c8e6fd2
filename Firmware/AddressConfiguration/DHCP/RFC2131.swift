/// The constants of RFC 2131.
public enum RFC2131 {
    /// The waits before retransmissions (§4.1). The last one repeats.
    public static let retransmissions = [4, 8, 16, 32, 64].map { Duration.seconds($0) }
    /// The random variation of each wait (§4.1).
    public static let jitter = Duration.seconds(1)
    /// The wait after an address turned out to be in use (§3.1.5).
    public static let declineWait = Duration.seconds(10)
    /// T1 as a share of the lease, if the server sends none (§4.4.5).
    public static let renewalShare = 0.5
    /// T2 as a share of the lease, if the server sends none (§4.4.5).
    public static let rebindingShare = 0.875
    /// The minimum interval between tries during renewing and rebinding. If half of the remaining time is longer, the
    /// next try comes after that half (§4.4.5).
    public static let leastRenewalRetry = Duration.seconds(60)
    /// The lease time in seconds that means unlimited (§3.3).
    public static let forEver: UInt32 = 0xFFFF_FFFF
    /// The random delay of the first message after power-on. §4.4.1 recommends 1 to 10 s against storms of machines
    /// that start together. One second suffices for the plugs of a house, and users should not wait for ten.
    public static let startSpread = Duration.zero...Duration.seconds(1)
}
