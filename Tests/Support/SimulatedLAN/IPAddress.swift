/// An IPv4 or IPv6 address: 4 or 16 bytes.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes, in network order.
    public let bytes: [UInt8]

    /// Creates an address from 4 or 16 bytes, or returns nil.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Creates an IPv4 address.
    public init(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) { bytes = [a, b, c, d] }

    /// Returns a link-local IPv6 address, fe80:: and a number.
    public static func linkLocal(_ number: UInt16) -> IPAddress {
        IPAddress(
            unchecked: [0xFE, 0x80] + [UInt8](repeating: 0, count: 12) + [UInt8(number >> 8), UInt8(number & 0xFF)])
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// True for an address of 4 bytes.
    public var isIPv4: Bool { bytes.count == 4 }

    /// True for 224.0.0.0/4 and ff00::/8.
    public var isMulticast: Bool { isIPv4 ? (224...239).contains(bytes[0]) : bytes[0] == 0xFF }

    /// True for 255.255.255.255; a subnet's own broadcast address is an ordinary address here.
    public var isBroadcast: Bool { bytes == [255, 255, 255, 255] }

    public var description: String {
        if isIPv4 { return bytes.map { String($0) }.joined(separator: ".") }
        return stride(from: 0, to: 16, by: 2)
            .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }
            .joined(separator: ":")
    }
}

/// An address and a port, of UDP or TCP.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// The address of the host.
    public var address: IPAddress
    /// The port of the host.
    public var port: UInt16

    /// Creates an endpoint.
    public init(_ address: IPAddress, _ port: UInt16) {
        self.address = address
        self.port = port
    }

    public var description: String { address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)" }
}

/// A UDP datagram; the LAN does not interpret its payload.
public struct Datagram: Hashable, Sendable {
    /// The endpoint of the sender.
    public var source: Endpoint
    /// The endpoint of the receiver, or a multicast or broadcast address with a port.
    public var destination: Endpoint
    /// The bytes after the UDP header.
    public var payload: [UInt8]

    /// Creates a datagram.
    public init(from source: Endpoint, to destination: Endpoint, _ payload: [UInt8]) {
        self.source = source
        self.destination = destination
        self.payload = payload
    }
}
