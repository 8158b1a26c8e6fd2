import AddressConfiguration
import DNSWire
import ProtocolCore

/// A DHCP server with correct or faulty behaviour.
struct ScriptedServer {
    enum Manner: CaseIterable {
        case correct
        /// Offers addresses, and then refuses every request and renewal.
        case refusing
        /// Often offers reserved or occupied addresses, and sometimes sends a wrong lease time, subnet mask, router,
        /// server or transaction.
        case lying
        /// Offers no addresses, but renews its leases.
        case exhausted
        /// Answers after 2 to 9 seconds.
        case slow
        case dead
    }

    let hardware: MACAddress
    let address: IPv4Address
    var manner: Manner
    /// The lease time in seconds.
    let leaseTime: UInt32
    private let pool: [IPv4Address]
    /// Addresses of other hosts, which a lying server offers.
    private let taken: [IPv4Address]
    private var owners: [IPv4Address: [UInt8]] = [:]
    /// Declined addresses, with the time until which the server does not offer them.
    private var declined: [IPv4Address: Instant] = [:]
    private var random: SeededRandom

    init(
        number: UInt8, manner: Manner, pool: [IPv4Address], taken: [IPv4Address], leaseTime: UInt32, seed: UInt64
    ) {
        hardware = MACAddress(2, 0, 0, 0, 0xDD, number)
        address = IPv4Address(10, 0, 0, number)
        self.manner = manner
        self.pool = pool
        self.taken = taken
        self.leaseTime = leaseTime
        random = SeededRandom(seed: seed)
    }

    /// Removes all leases, as after a power cut.
    mutating func forget() { owners = [:] }

    /// - Returns: the answer and its delay, or nil if the server does not answer.
    mutating func answer(_ message: DHCPMessage, now: Instant) -> (message: DHCPMessage, after: Duration)? {
        guard let identifier = message.options.clientIdentifier else { return nil }
        let wait: Duration = manner == .slow ? random.duration(in: .seconds(2)...(.seconds(9))) : .zero
        switch (message.options.messageType, manner) {
        case (_, .dead): return nil
        case (.discover, .exhausted): return nil
        case (.discover, _):
            guard let address = choose(for: identifier, message.options.requestedAddress, now: now) else { return nil }
            return (reply(.offer, message, address), wait)
        case (.request, _):
            guard message.options.serverIdentifier.map({ $0 == address }) ?? true else { return nil }
            return (decide(message, identifier, now: now), wait)
        case (.decline, _):
            if let address = message.options.requestedAddress {
                declined[address] = now + .seconds(300)
                owners[address] = nil
            }
            return nil
        default: return nil
        }
    }

    private mutating func choose(for client: [UInt8], _ requested: IPv4Address?, now: Instant) -> IPv4Address? {
        if manner == .lying, random.chance(0.7) { return lie() }
        func isFree(_ address: IPv4Address) -> Bool {
            (owners[address].map { $0 == client } ?? true) && (declined[address].map { $0 <= now } ?? true)
        }
        let chosen =
            pool.first { owners[$0] == client && isFree($0) } ?? requested.flatMap {
                pool.contains($0) && isFree($0) ? $0 : nil
            }
            ?? pool.first(where: isFree)
        if let chosen { owners[chosen] = client }
        return chosen
    }

    private mutating func lie() -> IPv4Address {
        let nonsense = [
            IPv4Address.any, .broadcast, IPv4Address(127, 0, 0, 1), IPv4Address(224, 0, 0, 251),
            IPv4Address(169, 254, 1, 1),
            IPv4Address(10, 0, 0, 255), address,
        ]
        return (nonsense + taken + taken).randomElement(using: &random)!
    }

    private mutating func decide(_ message: DHCPMessage, _ client: [UInt8], now: Instant) -> DHCPMessage {
        let wanted = message.options.requestedAddress ?? message.clientAddress
        let isTheirs = owners[wanted] == client && (declined[wanted].map { $0 <= now } ?? true)
        switch manner {
        case .refusing: return reply(.nak, message, .any)
        case .lying: return reply(random.chance(0.2) ? .nak : .ack, message, random.chance(0.8) ? wanted : lie())
        case .correct, .exhausted, .slow, .dead:
            return isTheirs ? reply(.ack, message, wanted) : reply(.nak, message, .any)
        }
    }

    private mutating func reply(_ type: DHCPMessageType, _ message: DHCPMessage, _ address: IPv4Address) -> DHCPMessage
    {
        var reply = DHCPMessage(
            operation: .reply, transaction: message.transaction, yourAddress: address,
            clientHardware: message.clientHardware)
        reply.options.messageType = type
        reply.options.serverIdentifier = self.address
        guard type != .nak else { return reply }
        reply.options.leaseTime = leaseTime
        reply.options.subnetMask = .mask(prefixLength: 16)
        reply.options.routers = [self.address]
        reply.options.domainNameServers = [self.address]
        guard manner == .lying else { return reply }
        if random.chance(0.2) { reply.options.leaseTime = [nil, 0, 1, 60, .max].randomElement(using: &random)! }
        if random.chance(0.2) {
            reply.options.subnetMask = IPv4Address(rawValue: UInt32(truncatingIfNeeded: random.next()))
        }
        if random.chance(0.2) { reply.options.routers = [lie()] }
        if random.chance(0.2) { reply.options.serverIdentifier = lie() }
        if random.chance(0.1) { reply.transaction &+= 1 }
        if random.chance(0.1) { reply.options.renewalTime = UInt32(truncatingIfNeeded: random.next()) }
        return reply
    }
}
