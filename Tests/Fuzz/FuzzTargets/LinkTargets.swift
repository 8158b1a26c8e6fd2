import AddressConfiguration
import DNSWire
import ProtocolCore

extension FuzzTarget {
    /// Checks that a valid ARP packet is written again byte for byte.
    static let arpPacket = FuzzTarget(
        name: "arp-packet",
        seeds: {
            let probe = ARPPacket.probe(for: IPv4Address(169, 254, 7, 9), from: card)
            return [
                probe, ARPPacket.announcement(of: IPv4Address(169, 254, 7, 9), from: card),
                ARPPacket.reply(to: probe, from: card),
            ].map { EthernetFrame(destination: .broadcast, source: card, type: 0x0806, payload: $0.encoded).encoded }
        },
        check: { bytes in
            guard let frame = try? EthernetFrame(decoding: bytes) else { return false }
            try require(frame.encoded == bytes, "the frame changes")
            guard let packet = try? ARPPacket(decoding: frame.payload) else { return false }
            try require(frame.payload.starts(with: packet.encoded), "the packet changes")
            return true
        })

    /// Checks that a valid DHCP message, and the packet that carries it, are unchanged when written and read again.
    static let dhcpMessage = FuzzTarget(
        name: "dhcp-message",
        seeds: { [reply(.ack), reply(.nak), reply(.offer)].map(\.encoded) + [overloaded] },
        check: { bytes in
            // The checksum of a random input is rarely correct, so it is not verified.
            _ = try? DHCPPacket(decoding: bytes, verifiesChecksum: false)
            let message: DHCPMessage
            do throws(PacketError) {
                message = try DHCPMessage(decoding: bytes)
            } catch {
                try require((0...bytes.count).contains(error.offset), "\(error) in \(bytes.count) bytes")
                return false
            }
            let written = message.encoded
            // Split options are merged when written; the content of three fields may be too long for one message.
            guard written.count <= DHCPMessage.lengthLimit else { return true }
            try require(try DHCPMessage(decoding: written) == message, "the message changes")
            let packet = DHCPPacket(broadcasting: message)
            try require(try DHCPPacket(decoding: packet.encoded) == packet, "the packet changes")
            return true
        })

    /// Sends arbitrary server messages, each preceded by a two-byte length, to a client. The client keeps running,
    /// accepts only valid leases, and limits its messages.
    static let dhcpClient = FuzzTarget(
        name: "dhcp-client",
        seeds: {
            [
                framed([reply(.offer), reply(.ack), reply(.ack)].map(\.encoded)),
                framed([reply(.offer), reply(.nak), reply(.offer), reply(.ack)].map(\.encoded) + [overloaded]),
            ]
        },
        check: { bytes in
            var served = ServedClient()
            for datagram in datagrams(in: bytes) { try served.receive(datagram) }
            try served.live()
            return served.wasGiven
        })

    private static let card = ServedClient.card

    private static func reply(_ type: DHCPMessageType) -> DHCPMessage {
        let server = IPv4Address(10, 0, 0, 1)
        var options = DHCPOptions()
        options.messageType = type
        options.serverIdentifier = server
        options.leaseTime = 3600
        options.renewalTime = 600
        options.rebindingTime = 1200
        options.subnetMask = IPv4Address(255, 255, 255, 0)
        options.routers = [server]
        options.domainNameServers = [server]
        options.domainName = "lan"
        options.searchDomains = ["lan", "example.com"]
        options.staticRoutes = [ClasslessRoute(destination: .any, prefixLength: 0, router: server)]
        return DHCPMessage(
            operation: .reply, transaction: 1, yourAddress: IPv4Address(10, 0, 0, 9), clientHardware: card,
            options: options)
    }

    /// An offer whose options are in three fields of the message. Option 6 is split into two parts.
    private static var overloaded: [UInt8] {
        var bytes = DHCPMessage(
            operation: .reply, transaction: 1, yourAddress: IPv4Address(10, 0, 0, 9), clientHardware: card
        ).encoded
        bytes.replaceSubrange(44..<55, with: [54, 4, 10, 0, 0, 1, 6, 2, 0, 1, 255])
        bytes.replaceSubrange(108..<119, with: [51, 4, 0, 0, 1, 0, 6, 2, 10, 0, 255])
        bytes.replaceSubrange(240..<247, with: [53, 1, 2, 52, 1, 3, 255])
        return bytes
    }
}

/// A client whose servers send the input. Each message gets the expected transaction and hardware address.
private struct ServedClient {
    static let card = MACAddress(2, 0, 0, 0, 0, 1)
    private var client = DHCPClient(
        configuration: DHCPClient.Configuration(
            hardwareAddress: card, hostName: "plug", clientIdentifier: [255, 1, 2], remembered: nil, seed: 1))
    private var now = FuzzedPlug.now
    private var transaction: UInt32 = 0
    private var sent = 0
    private(set) var wasGiven = false

    init() {
        for case .broadcast(let message) in client.handle(.linkUp(isPowerOn: false), now: now) {
            transaction = message.transaction
        }
    }

    mutating func receive(_ datagram: [UInt8]) throws(FuzzFailure) {
        guard var message = try? DHCPMessage(decoding: datagram) else { return }
        message.transaction = transaction
        message.clientHardware = Self.card
        let before = sent
        try handle(.received(message, from: message.options.serverIdentifier ?? .any))
        // If the client sent nothing, its next deadline makes it send a message, which the next datagram then answers:
        // the client renews its lease, or accepts the offer of a bad server for lack of a better offer.
        if sent == before { try wait() }
    }

    /// Runs for ten minutes without an answer.
    mutating func live() throws(FuzzFailure) {
        let end = now + .seconds(600)
        sent = 0
        while let deadline = client.nextDeadline, deadline < end { try wait() }
        try require(sent < 130, "\(sent) messages in ten minutes")
    }

    private mutating func wait() throws(FuzzFailure) {
        now = max(now, client.nextDeadline ?? now)
        try handle(.deadlineReached)
    }

    private mutating func handle(_ event: DHCPClient.Event) throws(FuzzFailure) {
        for action in client.handle(event, now: now) {
            switch action {
            case .broadcast(let message), .send(let message, _, _):
                transaction = message.transaction
                sent += 1
            case .check(let lease):
                try check(lease)
                wasGiven = true
                try handle(.addressChecked)
            case .bound(let lease): try check(lease)
            case .lost: break
            }
        }
        let isForEver = client.lease.map { $0.duration == nil } ?? false
        try require(client.nextDeadline != nil || isForEver, "the client has no deadline")
    }

    private func check(_ lease: DHCPLease) throws(FuzzFailure) {
        try require((8...32).contains(lease.prefixLength), "a prefix of \(lease.prefixLength) bits")
        try require(lease.routers.count <= 4 && lease.routes.count <= 32, "\(lease.routers), \(lease.routes)")
        guard let duration = lease.duration, let renewal = lease.renewal, let rebinding = lease.rebinding else {
            return
        }
        try require(renewal < rebinding && rebinding < duration, "\(renewal), \(rebinding), \(duration)")
    }
}
