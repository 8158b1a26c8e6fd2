public import DNSWire

/// A UDP datagram that arrived at port 5353 or at another port of this host.
public struct InboundDatagram: Hashable, Sendable {
    /// The payload.
    public var bytes: [UInt8]
    /// The interface on which the datagram arrived.
    public var interface: InterfaceID
    /// The sender's address.
    public var source: IPAddress
    /// The sender's port.
    public var sourcePort: UInt16
    /// True if the datagram was sent to the multicast group, false if it was sent to an address of this host.
    public var wasMulticast: Bool

    /// Creates a datagram.
    public init(bytes: [UInt8], interface: InterfaceID, source: IPAddress, sourcePort: UInt16, wasMulticast: Bool) {
        self.bytes = bytes
        self.interface = interface
        self.source = source
        self.sourcePort = sourcePort
        self.wasMulticast = wasMulticast
    }
}

/// A UDP datagram to send from port 5353 with ``RFC6762/hopLimit``.
public struct OutboundDatagram: Hashable, Sendable {
    /// The destination of a datagram.
    public enum Destination: Hashable, Sendable {
        /// The group of the family, port 5353.
        case multicast(IPFamily)
        /// One host.
        case unicast(IPAddress, port: UInt16)
    }

    /// The payload.
    public var bytes: [UInt8]
    /// The interface on which to send.
    public var interface: InterfaceID
    /// The destination.
    public var destination: Destination

    /// Creates a datagram.
    public init(bytes: [UInt8], interface: InterfaceID, destination: Destination) {
        self.bytes = bytes
        self.interface = interface
        self.destination = destination
    }
}

/// A decoded datagram. Responder and querier share it, so that a packet is decoded once.
public struct InboundMessage: Hashable, Sendable {
    /// The decoded message.
    public var message: Message
    /// The interface on which the message arrived.
    public var interface: InterfaceID
    /// The sender.
    public var source: Peer
    /// True if the message was sent to the multicast group, false if it was sent to an address of this host.
    public var wasMulticast: Bool

    /// Decodes the datagram.
    ///
    /// - Throws: the reason and the position if the bytes are malformed.
    public init(_ datagram: InboundDatagram) throws(WireError) {
        message = try Message(decoding: datagram.bytes)
        interface = datagram.interface
        source = Peer(address: datagram.source, port: datagram.sourcePort)
        wasMulticast = datagram.wasMulticast
    }
}

/// The sender of a packet.
public struct Peer: Hashable, Sendable {
    /// The sender's address.
    public var address: IPAddress
    /// The sender's port.
    public var port: UInt16

    /// Creates a peer.
    public init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// True if the sender is a one-shot unicast DNS resolver, which sends from a port other than 5353 (RFC 6762 §6.7).
    var isLegacy: Bool { port != RFC6762.port }
}
