import DNSWire
import LinkWire
import ProtocolCore

/// A question, repeated until it is answered: what its replies have in common.
struct DHCPExchange: Hashable, Sendable {
    let transaction: UInt32
    /// The same in a DISCOVER and the REQUEST that follows (RFC 2131 §4.4.1).
    var seconds: UInt16
    /// When the question at hand was asked first. A lease counts from here.
    var began: Instant
    /// Of this question.
    var sent = 1
    /// When to ask again, or something else.
    var next: Instant

    /// What the `secs` field says.
    static func seconds(since began: Instant, now: Instant) -> UInt16 {
        UInt16(clamping: (now - began).components.seconds)
    }
}

/// The client's messages (RFC 2131 §4.4.1, table 5).
extension DHCPClient {
    /// What a server is asked to tell.
    static let parameters: [DHCPOptionCode] = [
        .subnetMask, .routers, .domainNameServers, .domainName, .broadcastAddress, .ntpServers, .leaseTime,
        .serverIdentifier, .renewalTime, .rebindingTime, .searchDomains, .staticRoutes,
    ]
    static let vendorClass = "smartplug"
    /// Bytes: what fits an Ethernet frame behind the headers of IP and UDP. Servers that count these headers too send less.
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

    /// Says that somebody else has the address (§4.4.4): without anything that would be asked for.
    func decline(_ lease: DHCPLease, transaction: UInt32) -> DHCPMessage {
        bareMessage(.decline, transaction, requested: lease.address, server: lease.server)
    }

    /// The identifier goes with each message (RFC 2131 §4.2): by it the server knows us, not by the card's address.
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
