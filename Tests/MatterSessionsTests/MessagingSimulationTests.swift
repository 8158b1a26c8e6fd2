import MatterSessions
import ProtocolCore
import Testing

/// A controller and a device that talk over a link that loses 30 % of the datagrams, repeats, delays, reorders and
/// damages them, while the controller's address changes.
@Suite struct MessagingSimulationTests {
    @Test(
        "Each reliable message is delivered exactly once or reported as failed, and nothing remains", arguments: 1...60)
    func lossyLink(_ seed: UInt64) {
        var link = LossyLink(seed: seed)
        link.run(for: .seconds(120))
        link.drain()
        for (number, message) in link.messages.sorted(by: { $0.key < $1.key }) {
            #expect(message.deliveries <= 1, "message \(number)")
            guard message.isReliable else { continue }
            switch message.result {
            case .acknowledged:
                // A message that arrives after its receiver's exchange has failed is acknowledged, not delivered.
                let isKnown = !link.failures[1 - message.sender].contains(message.conversation)
                #expect(message.deliveries == 1 || !isKnown, "message \(number)")
            case .failed: break
            case nil: Issue.record("message \(number) has no result")
            }
        }
        for layer in link.layers {
            #expect(layer.exchangeCount == 0 && layer.nextDeadline == nil && layer.sessions.count == 1)
        }
    }

    /// Checks that the simulation reaches all results. Otherwise the invariants would not be tested.
    @Test("The lossy link delivers most messages, and some fail") func results() {
        var (acknowledged, undelivered, failed, total, moved) = (0, 0, 0, 0, 0)
        for seed in 1...10 as ClosedRange<UInt64> {
            var link = LossyLink(seed: seed)
            link.run(for: .seconds(120))
            link.drain()
            let reliable = link.messages.values.filter(\.isReliable)
            total += reliable.count
            acknowledged += reliable.count { $0.result == .acknowledged }
            undelivered += reliable.count { $0.result == .acknowledged && $0.deliveries == 0 }
            failed += reliable.count { $0.result == .failed }
            moved += link.moves
        }
        #expect(total > 1000 && moved > 10, "\(total) messages, \(moved) addresses")
        #expect(acknowledged > total * 8 / 10, "\(acknowledged) of \(total)")
        #expect(failed > 10 && failed < total / 5, "\(failed) of \(total)")
        #expect(undelivered < total / 100, "\(undelivered) of \(total)")
    }

    @Test("Without losses, each reliable message is delivered and acknowledged", arguments: 1...10)
    func perfectLink(_ seed: UInt64) {
        var link = LossyLink(seed: seed, isPerfect: true)
        link.run(for: .seconds(60))
        link.drain()
        let reliable = link.messages.values.filter(\.isReliable)
        #expect(reliable.count > 50)
        #expect(reliable.allSatisfy { $0.deliveries == 1 && $0.result == .acknowledged })
        #expect(link.layers.allSatisfy { $0.exchangeCount == 0 && $0.nextDeadline == nil })
    }
}

/// The simulation. Index 0 is the controller, 1 is the device. Both open exchanges and take turns on them.
private struct LossyLink {
    enum Result { case acknowledged, failed }

    struct Message {
        let sender: Int
        let conversation: UInt8
        let isReliable: Bool
        var deliveries = 0
        var result: Result?
    }

    private struct Packet {
        let time: Instant
        let order: Int
        let receiver: Int
        let destination: MatterPeer
        let source: MatterPeer
        let bytes: [UInt8]
    }

    /// A payload: the message's number, its conversation, and what follows it.
    private enum Next: UInt8 { case answer, another, nothing }

    private(set) var layers: [MessageLayer]
    private(set) var messages: [UInt16: Message] = [:]
    /// The conversations whose exchange has failed, by side.
    private(set) var failures: [Set<UInt8>] = [[], []]
    private(set) var moves = 0
    private var addresses = [MessagingPair.controllerPeer, MessagingPair.devicePeer]
    /// The reliable messages without a result in the order of their transmission, by side and exchange.
    private var pending: [[ExchangeID: [UInt16]]] = [[:], [:]]
    private var conversations: [[ExchangeID: UInt8]] = [[:], [:]]
    private var packets: [Packet] = []
    private var random: SeededRandom
    private var now = Instant.zero
    private var order = 0
    private var lastConversation: UInt8 = 0
    private let isPerfect: Bool

    init(seed: UInt64, isPerfect: Bool = false) {
        let pair = MessagingPair()
        (layers, random, self.isPerfect) = ([pair.controller, pair.device], SeededRandom(seed: seed), isPerfect)
    }

    /// Opens conversations at random times.
    mutating func run(for time: Duration) {
        let end = now + time
        while now < end {
            advance(to: now + random.duration(in: .zero ... .milliseconds(1500)))
            if !isPerfect, random.chance(0.05) {
                moves += 1
                addresses[0] = MatterPeer(address: [192, 0, 2, UInt8.random(in: 10...250, using: &random)], port: 5540)
            }
            // The device reports to a controller at an address that has sent a message recently.
            let side = random.chance(0.7) ? 0 : 1
            guard let session = layers[side].sessions.first?.id, lastConversation < 250,
                let exchange = layers[side].openExchange(on: session)
            else { continue }
            lastConversation += 1
            conversations[side][exchange] = lastConversation
            takeTurn(side, exchange)
        }
    }

    /// Runs until both sides have no deadline. All exchanges end within a limited time.
    mutating func drain() {
        let end = now + .seconds(300)
        while now < end, layers.contains(where: { $0.nextDeadline != nil }) || !packets.isEmpty {
            advance(to: now + .seconds(1))
        }
    }

    private mutating func advance(to end: Instant) {
        while true {
            let deadline = sooner(layers[0].nextDeadline, layers[1].nextDeadline)
            guard let next = sooner(packets.map(\.time).min(), deadline), next <= end else { break }
            now = max(now, next)
            for side in 0...1 where layers[side].nextDeadline.map({ $0 <= now }) ?? false {
                perform(side, layers[side].expire(now: now))
            }
            let due = packets.filter { $0.time <= now }.sorted { ($0.time, $0.order) < ($1.time, $1.order) }
            packets.removeAll { $0.time <= now }
            for packet in due where packet.destination == addresses[packet.receiver] {
                perform(
                    packet.receiver, layers[packet.receiver].receive(packet.bytes, from: packet.source, now: now))
            }
        }
        now = max(now, end)
    }

    private mutating func takeTurn(_ side: Int, _ exchange: ExchangeID) {
        var next = random.chance(0.4) ? Next.nothing : .answer
        if random.chance(0.1) { next = .another }
        send(next, side, exchange)
        if next == .another { send(.answer, side, exchange) }
    }

    private mutating func send(_ next: Next, _ side: Int, _ exchange: ExchangeID) {
        // The conversation is unknown after its exchange has failed.
        guard let conversation = conversations[side][exchange] else { return }
        let number = UInt16(messages.count)
        // A message that is lost without a report would leave its exchange without a turn, so these are last.
        let isReliable = next != .nothing || random.chance(0.8)
        messages[number] = Message(sender: side, conversation: conversation, isReliable: isReliable)
        if isReliable { pending[side][exchange, default: []].append(number) }
        let payload = [UInt8(number >> 8), UInt8(number & 0xFF), conversation, next.rawValue]
        perform(
            side,
            layers[side].send(payload, on: exchange, isReliable: isReliable, isLast: next == .nothing, now: now))
    }

    private mutating func perform(_ side: Int, _ outputs: [MessageLayer.Output]) {
        for output in outputs {
            switch output {
            case .send(let bytes, let destination): transmit(bytes, from: side, to: destination)
            case .message(let message): handle(message, side)
            case .acknowledged(let exchange):
                guard let number = pending[side][exchange]?.first else {
                    Issue.record("an acknowledgement without a message")
                    continue
                }
                pending[side][exchange]?.removeFirst()
                messages[number]?.result = .acknowledged
            case .failed(let exchange):
                for number in pending[side].removeValue(forKey: exchange) ?? [] { messages[number]?.result = .failed }
                if let conversation = conversations[side].removeValue(forKey: exchange) {
                    failures[side].insert(conversation)
                }
            case .groupMessage: Issue.record("a message to a group arrived")
            case .sessionEnded: Issue.record("a session has ended")
            }
        }
    }

    private mutating func handle(_ message: IncomingMessage, _ side: Int) {
        guard message.payload.count == 4, let next = Next(rawValue: message.payload[3]) else {
            Issue.record("a damaged message was delivered")
            return
        }
        messages[UInt16(message.payload[0]) << 8 | UInt16(message.payload[1])]?.deliveries += 1
        conversations[side][message.exchange] = message.payload[2]
        switch next {
        case .another: break
        case .nothing: perform(side, layers[side].close(message.exchange, now: now))
        // Some answers are never sent. Such an exchange fails when it is idle.
        case .answer where !isPerfect && random.chance(0.03): break
        case .answer: takeTurn(side, message.exchange)
        }
    }

    private mutating func transmit(_ bytes: [UInt8], from side: Int, to destination: MatterPeer) {
        let copies = isPerfect ? 1 : random.chance(0.3) ? 0 : random.chance(0.1) ? 2 : 1
        for copy in 0..<copies {
            var bytes = bytes
            if !isPerfect, random.chance(0.02), let index = bytes.indices.randomElement(using: &random) {
                bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
            }
            let longest = isPerfect ? 20 : copy > 0 ? 5000 : 400 as Int64
            let delay = random.duration(in: .milliseconds(1)...Duration.milliseconds(longest))
            order += 1
            packets.append(
                Packet(
                    time: now + delay, order: order, receiver: 1 - side, destination: destination,
                    source: addresses[side], bytes: bytes))
        }
    }
}
