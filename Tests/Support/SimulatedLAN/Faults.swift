/// The faults of a link. Streams arrive complete and in order: loss only delays them.
public struct LinkFaults: Hashable, Sendable {
    /// The chance that a datagram, or one transmission of a stream's segment, is lost.
    public var loss: Double
    /// The chance that a datagram arrives twice.
    public var duplication: Double
    /// The delay of every transmission.
    public var delay: ClosedRange<Duration>
    /// The chance that a datagram is delayed further, so that later ones overtake it.
    public var reordering: Double
    /// The longest further delay of such a datagram.
    public var heldBack: Duration

    /// Creates faults of a link. Without arguments, the link only delays transmissions by 0.1 to 2 ms.
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

    /// A link without loss, duplication and reordering, and with delays of 0.1 to 2 ms.
    public static let none = LinkFaults()
}

/// A change of the LAN at a moment of the run.
public enum Fault: Hashable, Sendable {
    case linkFaults(LinkID, LinkFaults)
    /// Splits a link: hosts only reach others in their group. Hosts without a group form one further group.
    case partition(LinkID, [[HostID]])
    case heal(LinkID)
    case linkDown(LinkID)
    case linkUp(LinkID)
    /// Cuts the power without notice; the host's streams stay half open at their peers.
    case powerCut(HostID)
    /// Boots a host that is off, with a new boot id and its clock at zero.
    case powerOn(HostID)
    /// Kills the process. The kernel keeps running: it resets each stream, or delivers the written bytes and then
    /// closes the stream.
    case kill(HostID)
    /// Starts a killed process.
    case start(HostID)
    /// Suspends the host: time continues, but the host does nothing and answers nothing.
    case suspend(HostID)
    case resume(HostID)
    /// Steps the wall clock; the monotonic clock is unchanged.
    case stepWallClock(HostID, by: Duration)
}
