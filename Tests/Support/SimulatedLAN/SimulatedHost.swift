public import ProtocolCore

/// Identifies a host of a LAN by its number in the order of addition, starting at 0.
public struct HostID: Hashable, Sendable { public let index: Int }
/// Identifies a link of a LAN by its number in the order of addition, starting at 0.
public struct LinkID: Hashable, Sendable { public let index: Int }
/// Identifies an interface of a LAN by its number in the order of addition, starting at 0.
public struct InterfaceID: Hashable, Sendable { public let index: Int }

/// Identifies a stream at one of its two hosts. A host numbers the streams that it opens below 2^32 and never reuses a
/// number. The LAN numbers accepted streams above 2^32.
public struct StreamID: Hashable, Sendable {
    /// The number of the stream at its host.
    public let rawValue: UInt64

    /// Creates the id of a stream that the host opens. The host must not have used the number before.
    public init(_ rawValue: UInt32) { self.rawValue = UInt64(rawValue) }
    init(accepted number: UInt64) { rawValue = 1 << 32 + number }
}

/// A host of the LAN. It connects protocol machines to the simulated network, as the shell does on a board.
///
/// `now` is the host's own clock: the time since its boot, including suspend. The LAN keeps the host's value across a
/// power loss, like the flash of a board. At ``HostEvent/started(_:)`` the host must reset everything in memory.
public protocol SimulatedHost: Machine where Event == HostEvent<Stimulus>, Action == HostAction {
    /// An external stimulus of a test, such as a button press or a request.
    associatedtype Stimulus
}

/// An event that the LAN delivers to a running host.
public enum HostEvent<Stimulus>: MachineEvent {
    /// The process starts. Previous streams, timers and memory are gone.
    case started(Start)
    /// The interface is up. Also sent after ``started(_:)`` for each interface that is up.
    case interfaceUp(InterfaceID, [IPAddress])
    case interfaceDown(InterfaceID)
    case datagram(Datagram, on: InterfaceID)
    /// A host connected to a listening port of this host.
    case accepted(StreamID, port: UInt16, from: Endpoint)
    case connected(StreamID)
    /// Bytes in order, split anywhere.
    case received(StreamID, [UInt8])
    /// The send buffer filled up (false) or drained to a quarter (true).
    case writable(StreamID, Bool)
    /// The last event of a stream, unless this host closed it.
    case closed(StreamID, StreamEnd)
    case wallClockStepped(by: Duration)
    case stimulus(Stimulus)
    case deadlineReached
}

/// The start of a host's process.
public struct Start: Hashable, Sendable {
    /// The two causes of a start: the host boots, or its killed process is started again.
    public enum Cause: Hashable, Sendable { case powerOn, processStart }

    /// The cause of this start.
    public var cause: Cause
    /// The boot id, which differs for each boot of each host and is unchanged after a restart of the process.
    public var boot: UInt64
    /// The seed for the host's own random decisions.
    public var seed: UInt64
}

/// The reason for the end of a stream, or for a failed connection.
public enum StreamEnd: Hashable, Sendable {
    /// The peer closed the stream, and all its bytes have arrived.
    case finished
    /// The peer has no such stream any more: it closed the stream, its process was killed, or its host lost its power.
    case reset
    /// No process listens on that port.
    case refused
    /// No host on a common link has that address.
    case unreachable
    /// No answer arrived within the time limit.
    case timedOut
}

/// An action that the LAN performs for a host.
public enum HostAction: Hashable, Sendable {
    case send(Datagram, on: InterfaceID)
    case listen(port: UInt16)
    case connect(StreamID, to: Endpoint)
    case write(StreamID, [UInt8])
    /// Closes the stream after all written bytes have arrived. No further events of the stream follow.
    case close(StreamID)
    /// False leaves incoming bytes in the peer's send buffer.
    case setReading(StreamID, Bool)
    /// Cuts the host's power or kills its process at this point: no later action is performed.
    case breakDown(Breakdown)
}

/// The sudden end of a host's process: the host loses its power, or only the process is killed.
public enum Breakdown: Hashable, Sendable { case powerCut, kill }
