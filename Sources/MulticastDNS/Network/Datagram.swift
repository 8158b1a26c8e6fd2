public import DNSWire

/// A UDP datagram that arrived at port 5353.
public struct InboundDatagram: Hashable, Sendable {
    public var bytes: [UInt8]
    public var interface: InterfaceID
    public var source: IPAddress
    public var sourcePort: UInt16
    /// True when it was sent to the multicast group, not to an address of ours.
    public var wasMulticast: Bool

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
    public enum Destination: Hashable, Sendable {
        /// To the group of the family, port 5353.
        case multicast(IPFamily)
        case unicast(IPAddress, port: UInt16)
    }

    public var bytes: [UInt8]
    public var interface: InterfaceID
    public var destination: Destination

    public init(bytes: [UInt8], interface: InterfaceID, destination: Destination) {
        self.bytes = bytes
        self.interface = interface
        self.destination = destination
    }
}

/// A decoded datagram, read once for responder and querier.
public struct InboundMessage: Hashable, Sendable {
    public var message: Message
    public var interface: InterfaceID
    public var source: Peer
    public var wasMulticast: Bool

    /// Decodes; malformed bytes are the peer's fault and say where and why.
    public init(_ datagram: InboundDatagram) throws(WireError) {
        message = try Message(decoding: datagram.bytes)
        interface = datagram.interface
        source = Peer(address: datagram.source, port: datagram.sourcePort)
        wasMulticast = datagram.wasMulticast
    }
}

/// Who sent a packet.
public struct Peer: Hashable, Sendable {
    public var address: IPAddress
    public var port: UInt16

    public init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// RFC 6762 §6.7: a resolver that knows only one-shot unicast DNS asks from another port.
    var isLegacy: Bool { port != RFC6762.port }
}
