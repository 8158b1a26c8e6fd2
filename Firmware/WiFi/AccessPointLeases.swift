public import AddressConfiguration
public import DNSWire
public import ProtocolCore

/// The addresses of the guests in the plug's own network: a DHCP server (RFC 2131 section 4.3) for a few hosts and a
/// short time.
public struct AccessPointLeases: Sendable {
    /// The plug's own address.
    public let address: IPv4Address
    /// The prefix length of the network.
    public static let prefixLength: UInt8 = 24
    /// The limit of guests.
    static let limit = 16
    /// The time of a lease in seconds. It is short, because the plug's own network is open for minutes.
    static let seconds: UInt32 = 300
    /// The time in which a guest has to accept an offer.
    private static let offerTime = Duration.seconds(30)

    private struct Lease {
        var hardware: MACAddress
        var until: Instant
    }

    /// The guests by the position of their address.
    private var leases: [Int: Lease] = [:]

    /// - Parameter address: the first address of a network with ``prefixLength``. The next ones are for guests.
    public init(address: IPv4Address) { self.address = address }

    /// Returns the answer to a guest's message, which must be broadcast; nil if it gets none.
    public mutating func answer(_ message: DHCPMessage, now: Instant) -> DHCPMessage? {
        guard message.operation == .request, message.relay == .any else { return nil }
        // A message for a different server.
        if let server = message.options.serverIdentifier, server != address { return nil }
        let hardware = message.clientHardware
        switch message.options.messageType {
        case .discover:
            guard let position = position(of: hardware, now: now) else { return nil }
            // Other guests get different offers until this one has chosen.
            if known(hardware) == nil { leases[position] = Lease(hardware: hardware, until: now + Self.offerTime) }
            return reply(.offer, to: message, position)
        case .request:
            let wanted = message.options.requestedAddress ?? message.clientAddress
            guard let position = position(of: hardware, now: now), guest(position) == wanted else {
                return reply(.nak, to: message, nil)
            }
            leases[position] = Lease(hardware: hardware, until: now + .seconds(Int(Self.seconds)))
            return reply(.ack, to: message, position)
        case .inform: return reply(.ack, to: message, nil)
        case .decline:
            // Another host has the address. It stays taken for the time of a lease.
            if let position = known(hardware) {
                leases[position] = Lease(hardware: .zero, until: now + .seconds(Int(Self.seconds)))
            }
            return nil
        case .release:
            if let position = known(hardware) { leases[position] = nil }
            return nil
        case .offer, .ack, .nak, nil: return nil
        }
    }

    private func guest(_ position: Int) -> IPv4Address {
        IPv4Address(rawValue: address.rawValue &+ 1 &+ UInt32(position))
    }

    private func known(_ hardware: MACAddress) -> Int? { leases.first { $0.value.hardware == hardware }?.key }

    /// Returns the guest's position, or a free one; nil if all are taken.
    private func position(of hardware: MACAddress, now: Instant) -> Int? {
        known(hardware) ?? (0..<Self.limit).first { leases[$0].map { $0.until <= now } ?? true }
    }

    private func reply(_ type: DHCPMessageType, to message: DHCPMessage, _ position: Int?) -> DHCPMessage {
        var reply = DHCPMessage(
            operation: .reply, transaction: message.transaction, wantsBroadcast: true,
            clientAddress: type == .ack ? message.clientAddress : .any,
            yourAddress: position.map(guest) ?? .any, clientHardware: message.clientHardware)
        reply.options.messageType = type
        reply.options.serverIdentifier = address
        if let identifier = message.options[.clientIdentifier] { reply.options[.clientIdentifier] = identifier }
        guard type != .nak else { return reply }
        if position != nil { reply.options.leaseTime = Self.seconds }
        reply.options.subnetMask = IPv4Address(rawValue: .max << (32 - UInt32(Self.prefixLength)))
        reply.options.routers = [address]
        reply.options.domainNameServers = [address]
        return reply
    }
}
