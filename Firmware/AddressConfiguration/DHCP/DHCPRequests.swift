import DNSWire
import ProtocolCore

/// A request that is repeated until it is answered. Its replies share the transaction.
struct DHCPExchange: Hashable, Sendable {
    let transaction: UInt32
    /// The `secs` field, identical in a DISCOVER and the following REQUEST (RFC 2131 §4.4.1).
    var seconds: UInt16
    /// The time at which the current message was first sent. A lease time counts from here.
    var began: Instant
    /// The number of times that the current message was sent.
    var sent = 1
    /// The time of the next step.
    var next: Instant

    /// Returns the value of the `secs` field.
    static func seconds(since began: Instant, now: Instant) -> UInt16 {
        UInt16(clamping: (now - began).components.seconds)
    }
}

/// Creates the client's messages (RFC 2131 §4.4.1, table 5).
extension DHCPClient {
    /// The options that the client requests.
    static let parameters: [DHCPOptionCode] = [
        .subnetMask, .routers, .domainNameServers, .domainName, .broadcastAddress, .ntpServers, .leaseTime,
        .serverIdentifier, .renewalTime, .rebindingTime, .searchDomains, .staticRoutes,
    ]
    static let vendorClass = "smartplug"
    /// The maximum message size in bytes that fits an Ethernet frame after the headers of IP and UDP. Servers that
    /// include these headers send less.
    static let maximumMessageSize: UInt16 = 1472

    func message(
        _ type: DHCPMessageType, _ exchange: DHCPExchange, clientAddress: IPv4Address = .any,
        requested: IPv4Address? = nil, server: IPv4Address? = nil
    ) -> DHCPMessage {
        var message = bareMessage(
            type, exchange.transaction, requested: requested, server: server)
        message.secondsElapsed = exchange.seconds
        message.clientAddress = clientAddress
        let hostName = configuration.hostName
        message.options.hostName = (1...63).contains(hostName.utf8.count) ? hostName : nil
        message.options.vendorClass = Self.vendorClass
        message.options.maximumMessageSize = Self.maximumMessageSize
        message.options.parameterRequestList = Self.parameters
        return message
    }

    /// Creates a DECLINE for an address that another host has (§4.4.4), without requested parameters.
    func decline(_ lease: DHCPLease, transaction: UInt32) -> DHCPMessage {
        bareMessage(.decline, transaction, requested: lease.address, server: lease.server)
    }

    /// Creates a message with the client identifier, which every message contains (RFC 2131 §4.2): it identifies the
    /// client to the server, instead of the card's address.
    private func bareMessage(
        _ type: DHCPMessageType, _ transaction: UInt32, requested: IPv4Address?, server: IPv4Address?
    ) -> DHCPMessage {
        var options = DHCPOptions()
        options.messageType = type
        options.clientIdentifier = configuration.clientIdentifier
        options.requestedAddress = requested
        options.serverIdentifier = server
        return DHCPMessage(
            operation: .request, transaction: transaction, clientHardware: configuration.hardwareAddress,
            options: options)
    }
}
