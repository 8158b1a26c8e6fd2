import AddressConfiguration
import DNSWire

/// A correct DHCP server with one address for every client.
struct TestServer {
    static let address = IPv4Address(192, 0, 2, 1)

    var lease = IPv4Address(192, 0, 2, 50)
    /// The lease time in seconds.
    var duration: UInt32 = 3600
    /// True if the server refuses every request.
    var refuses = false
    var routers = [address]
    var prefixLength: UInt8 = 24
    private(set) var declined: [IPv4Address] = []

    mutating func answer(_ message: DHCPMessage) -> DHCPMessage? {
        var reply = DHCPMessage(
            operation: .reply, transaction: message.transaction, yourAddress: lease,
            clientHardware: message.clientHardware)
        switch message.options.messageType {
        case .discover: reply.options.messageType = .offer
        case .request:
            let wanted = message.options.requestedAddress ?? message.clientAddress
            reply.options.messageType = refuses || wanted != lease ? .nak : .ack
        case .decline:
            if let address = message.options.requestedAddress { declined.append(address) }
            lease = IPv4Address(rawValue: lease.rawValue + 1)
            return nil
        default: return nil
        }
        reply.options.serverIdentifier = Self.address
        guard reply.options.messageType != .nak else {
            reply.yourAddress = .any
            return reply
        }
        reply.options.leaseTime = duration
        reply.options.subnetMask = .mask(prefixLength: prefixLength)
        reply.options.routers = routers
        reply.options.domainNameServers = [Self.address]
        return reply
    }
}
