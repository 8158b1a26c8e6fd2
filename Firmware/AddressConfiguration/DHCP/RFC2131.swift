/// Constants of RFC 2131.
public enum RFC2131 {
    /// How long to wait before a message is sent again (§4.1); the last one for ever.
    public static let retransmissions = [4, 8, 16, 32, 64].map { Duration.seconds($0) }
    /// Each is so much shorter or longer, at random (§4.1).
    public static let jitter = Duration.seconds(1)
    /// Before the next try after an address turned out to be taken (§3.1.5).
    public static let declineWait = Duration.seconds(10)
    /// T1 as a share of the lease, unless the server says otherwise (§4.4.5).
    public static let renewalShare = 0.5
    /// T2 as a share of the lease, unless the server says otherwise (§4.4.5).
    public static let rebindingShare = 0.875
    /// While renewing and rebinding the next try comes after half of what is left, but never sooner (§4.4.5).
    public static let leastRenewalRetry = Duration.seconds(60)
    /// A lease time, in seconds, that means for ever (§3.3).
    public static let forEver: UInt32 = 0xFFFF_FFFF
    /// The first message after power-on comes within this span. §4.4.1 asks for 1 to 10 s against storms of machines that
    /// start together; a tenth of it is enough for the plugs of a house, and nobody waits for ten seconds.
    public static let startSpread = Duration.zero...Duration.seconds(1)
}
