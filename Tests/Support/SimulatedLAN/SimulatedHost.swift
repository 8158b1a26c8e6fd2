public import ProtocolCore

/// Names a host, a link or an interface of one LAN: the order in which they were added.
public struct HostID: Hashable, Sendable { public let index: Int }
public struct LinkID: Hashable, Sendable { public let index: Int }
public struct InterfaceID: Hashable, Sendable { public let index: Int }

/// Names a stream at one of its two hosts. A host numbers those that it opens itself below 2^32, as it likes but never
/// twice; the LAN numbers those that the host accepts from there on.
public struct StreamID: Hashable, Sendable {
    public let rawValue: UInt64

    public init(_ rawValue: UInt32) { self.rawValue = UInt64(rawValue) }
    init(accepted number: UInt64) { rawValue = 1 << 32 + number }
}

/// A host of the LAN: a machine that brings protocol machines together with the network, as a shell does on a board.
///
/// `now` is the host's own clock: time since its boot, counting through suspend. The value outlives a loss of power, as a
/// board with its flash does; ``HostEvent/started(_:)`` is where it forgets what was in memory.
public protocol SimulatedHost: Machine where Event == HostEvent<Stimulus>, Action == HostAction {
    /// What a test does to the host from outside: press its button, ask for something.
    associatedtype Stimulus
}

public enum HostEvent<Stimulus>: MachineEvent {
    /// The process starts. Streams, timers and whatever was in memory before are gone.
    case started(Start)
    /// Also comes after ``started(_:)`` for each interface that is up.
    case interfaceUp(InterfaceID, [IPAddress])
    case interfaceDown(InterfaceID)
    case datagram(Datagram, on: InterfaceID)
    /// Somebody connected to a port that this host listens on.
    case accepted(StreamID, port: UInt16, from: Endpoint)
    case connected(StreamID)
    /// Bytes in order, cut anywhere.
    case received(StreamID, [UInt8])
    /// The send buffer filled up (false) or drained (true).
    case writable(StreamID, Bool)
    /// The last event of a stream, unless this host closed it itself.
    case closed(StreamID, StreamEnd)
    case wallClockStepped(by: Duration)
    case stimulus(Stimulus)
    case deadlineReached
}

public struct Start: Hashable, Sendable {
    public enum Cause: Hashable, Sendable { case powerOn, processStart }

    public var cause: Cause
    /// Differs for each boot of each host; the same after a mere restart of the process.
    public var boot: UInt64
    /// For the host's own random decisions.
    public var seed: UInt64
}

public enum StreamEnd: Hashable, Sendable {
    /// The peer closed it, and all that it wrote has arrived.
    case finished
    /// The peer has no such stream: its process or its host has been restarted.
    case reset
    /// Nobody listens on that port.
    case refused
    /// Nobody on a common link has that address.
    case unreachable
    /// Nothing came back for too long.
    case timedOut
}

public enum HostAction: Hashable, Sendable {
    case send(Datagram, on: InterfaceID)
    case listen(port: UInt16)
    case connect(StreamID, to: Endpoint)
    case write(StreamID, [UInt8])
    /// Closes after what was written has arrived. Nothing more is heard of the stream.
    case close(StreamID)
    /// False leaves what arrives in the peer's send buffer.
    case setReading(StreamID, Bool)
    /// The host's power goes, or its process is killed, at this point of its work: nothing after it is performed.
    case breakDown(Breakdown)
}

public enum Breakdown: Hashable, Sendable { case powerCut, kill }
