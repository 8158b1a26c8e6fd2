import DNSWire
@testable import AddressConfiguration
import ProtocolCore
import Testing

/// Random servers, links and probes.
private struct Chaos {
    var random: SeededRandom
    var client: DHCPClient
    var now = Instant.zero + .seconds(100)
    private var last: DHCPMessage?
    private var inUse: IPv4Address?
    /// The probability that a drawn link change, suspend or address conflict takes place. Each run uses 0, 2, 20 or
    /// 100 %.
    private let unrest: Double
    private(set) var sent: [Instant] = []
    private(set) var bindings = 0
    private(set) var faults: [String] = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        unrest = [0, 0.02, 0.2, 1].randomElement(using: &random) ?? 1
        client = DHCPClient(
            configuration: DHCPClient.Configuration(
                hardwareAddress: ownCard, hostName: "plug", clientIdentifier: [255, 1, 2],
                remembered: random.chance(0.5)
                    ? RememberedLease(address: IPv4Address(10, 0, 0, 50), server: firstServer) : nil,
                seed: random.next()))
    }

    mutating func step() {
        let event = nextEvent()
        for action in client.handle(event, now: now) { perform(action) }
        if client.lease?.address != inUse { faults.append("\(String(describing: inUse)) is in use without a lease") }
        if let deadline = client.nextDeadline, deadline > now + .seconds(40 * 24 * 3600) {
            faults.append("the next deadline is more than 40 days away")
        }
    }

    private mutating func nextEvent() -> DHCPClient.Event {
        if let deadline = client.nextDeadline, random.chance(0.5) {
            now = max(now, deadline)
            return .deadlineReached
        }
        if random.chance(0.5) { now = now + random.duration(in: .zero...Duration.seconds(20)) }
        switch Int.random(in: 0..<20, using: &random) {
        case 0 where sent.isEmpty || random.chance(unrest): return .linkUp(isPowerOn: random.chance(0.5))
        case 1 where random.chance(unrest): return random.chance(0.3) ? .linkDown : .resumed
        case 2 where random.chance(unrest): return .addressInConflict
        case 3: return .deadlineReached
        case 4...8: return .addressChecked
        case _: return .received(reply(), from: firstServer)
        }
    }

    private mutating func reply() -> DHCPMessage {
        var server = FakeServer(address: random.chance(0.8) ? firstServer : secondServer)
        server.gives = IPv4Address(10, 0, 0, UInt8.random(in: 50...53, using: &random))
        if let wanted = last?.options.requestedAddress ?? last?.clientAddress, wanted != .any, random.chance(0.8) {
            server.gives = wanted
        }
        // An unlimited lease is never renewed, so the unlimited time is a candidate in only 5 % of the replies.
        let times: [UInt32] = [
            0, 1, 30, 31, 60, 600, 3600, 86_400, 0xFFFF_FFFE, random.chance(0.05) ? 0xFFFF_FFFF : 90,
        ]
        server.seconds = times.randomElement(using: &random) ?? 0
        let blank = DHCPMessage(operation: .request, transaction: 0, clientHardware: ownCard)
        let right: DHCPMessageType = last?.options.messageType == .discover ? .offer : .ack
        let others: [DHCPMessageType] = [.offer, .ack, .nak, .nak, .discover]
        let type = random.chance(0.7) ? right : others.randomElement(using: &random) ?? right
        var reply = server.reply(type, to: last ?? blank)
        if random.chance(0.3) { reply.options.renewalTime = times.randomElement(using: &random) }
        if random.chance(0.3) { reply.options.rebindingTime = times.randomElement(using: &random) }
        return reply
    }

    private mutating func perform(_ action: DHCPClient.Action) {
        switch action {
        case .broadcast(let message): transmit(message)
        case .send(let message, let source, let destination):
            if source != inUse || destination == .broadcast { faults.append("sent from \(source) to \(destination)") }
            transmit(message)
        case .check(let lease):
            check(lease)
            if inUse != nil { faults.append("the client checks an address while it has a lease") }
        case .bound(let lease):
            check(lease)
            bindings += 1
            if let inUse, inUse != lease.address { faults.append("bound twice") }
            inUse = lease.address
        case .lost:
            if inUse == nil { faults.append("lost nothing") }
            inUse = nil
        }
    }

    private mutating func transmit(_ message: DHCPMessage) {
        sent.append(now)
        last = message
        if ![.any, inUse].contains(message.clientAddress) { faults.append("sent a wrong client address") }
        if (try? DHCPMessage(decoding: message.encoded)) != message { faults.append("unreadable: \(message)") }
    }

    private mutating func check(_ lease: DHCPLease) {
        let times = [lease.renewal, lease.rebinding, lease.duration].compactMap(\.self)
        if times.count == 3, times[0] < .seconds(4), times[0] >= times[1], times[1] >= times[2] {
            faults.append("the times are not in order: \(times)")
        }
        if ![0, 3].contains(times.count) { faults.append("some of the three times are missing") }
    }
}

@Suite("A DHCP client with random servers, links and neighbours")
struct DHCPPropertyTests {
    /// Returns the maximum number of messages in any span of this length.
    private func most(_ sent: [Instant], within span: Duration) -> Int {
        var (most, first) = (0, 0)
        for (index, time) in sent.enumerated() {
            while time - sent[first] >= span { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    @Test("The client keeps its invariants and its rate limit", arguments: 0..<8)
    func anything(part: UInt64) {
        var bindings = 0
        for seed in 0..<250 {
            var chaos = Chaos(seed: part * 1000 + UInt64(seed))
            for _ in 0..<400 where chaos.faults.isEmpty { chaos.step() }
            #expect(chaos.faults.isEmpty, "seed \(part * 1000 + UInt64(seed))")
            bindings += chaos.bindings
            // The number of starts per minute is limited. A start sends at most DISCOVER, REQUEST and DECLINE.
            #expect(most(chaos.sent, within: .seconds(60)) <= (DHCPStartLimit.burst + 15) * 3)
        }
        #expect(bindings > 500)
    }

    @Test("The client sends at most 1000 messages per hour", arguments: 1000..<1004)
    func rate(seed: UInt64) {
        var chaos = Chaos(seed: seed)
        for _ in 0..<10_000 where chaos.faults.isEmpty { chaos.step() }
        #expect(chaos.faults.isEmpty)
        #expect(chaos.sent.count > 500)
        #expect(most(chaos.sent, within: .seconds(3600)) <= 1000)
    }

    @Test("Two runs with one seed are identical")
    func repeats() {
        func run() -> [Instant] {
            var chaos = Chaos(seed: 7)
            for _ in 0..<400 { chaos.step() }
            return chaos.sent
        }
        #expect(run() == run())
    }
}
