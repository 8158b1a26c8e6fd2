/// What a link does to what it carries. Streams arrive in order and whole: loss only makes them late.
public struct LinkFaults: Hashable, Sendable {
    /// Chance that a datagram, or one sending of a stream's segment, is lost.
    public var loss: Double
    /// Chance that a datagram arrives twice.
    public var duplication: Double
    /// How long everything takes.
    public var delay: ClosedRange<Duration>
    /// Chance that a datagram is held back, and for how long at most; later ones overtake it.
    public var reordering: Double
    public var heldBack: Duration

    public init(
        loss: Double = 0, duplication: Double = 0,
        delay: ClosedRange<Duration> = .microseconds(100)...(.milliseconds(2)),
        reordering: Double = 0, heldBack: Duration = .milliseconds(100)
    ) {
        self.loss = loss
        self.duplication = duplication
        self.delay = delay
        self.reordering = reordering
        self.heldBack = heldBack
    }

    public static let none = LinkFaults()
}

/// Something that happens to the LAN at a moment of the run.
public enum Fault: Hashable, Sendable {
    case linkFaults(LinkID, LinkFaults)
    /// Hosts hear each other only within their group; hosts that no group names form one more.
    case partition(LinkID, [[HostID]])
    case heal(LinkID)
    case linkDown(LinkID)
    case linkUp(LinkID)
    /// The host is gone without a word; its streams stay half open at their peers.
    case powerCut(HostID)
    /// Boots a host that is off, with a new boot and its clock at zero.
    case powerOn(HostID)
    /// The process is killed; the kernel lives on and resets its streams.
    case kill(HostID)
    /// Starts a process that was killed.
    case start(HostID)
    /// Time goes on, but the host does nothing and answers nothing.
    case suspend(HostID)
    case resume(HostID)
    /// The wall clock jumps; the monotonic clock does not.
    case stepWallClock(HostID, by: Duration)
}
