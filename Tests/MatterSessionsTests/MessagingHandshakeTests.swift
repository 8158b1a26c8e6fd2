import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@Suite struct MessagingHandshakeTests {
    private func host(_ number: UInt8, port: UInt16 = 5540) -> MatterPeer {
        MatterPeer(address: [203, 0, 113, number], port: port)
    }

    /// Returns a message of an initiator that is not encrypted.
    private func message(
        _ opcode: SecureChannelOpcode = .sigma1, node: UInt64, counter: UInt32 = 100, exchange: UInt16 = 1,
        isInitiator: Bool = true, protocolID: UInt16 = MatterProtocol.secureChannel
    ) -> [UInt8] {
        let header = ProtocolHeader(
            isInitiator: isInitiator, needsAcknowledgement: true, opcode: opcode.rawValue, exchange: exchange,
            protocolID: protocolID)
        return MessageHeader(sessionID: 0, counter: counter, source: node).encoded + header.encoded + [1, 2]
    }

    @Test("The messages of a handshake reach both sides, and nothing remains afterwards") func handshake() throws {
        var (initiator, responder) = (MessageLayer(seed: 1), MessageLayer(seed: 2))
        var now = Instant.zero
        let exchange = try initiator.openedHandshake(with: MessagingPair.devicePeer, now: now)
        var outputs = initiator.send(
            MatterProtocol.secureChannel, SecureChannelOpcode.sigma1.rawValue, [1], on: exchange, isLast: false,
            now: now)
        var answered: [ExchangeID] = []
        for (opcode, isLast) in [(SecureChannelOpcode.sigma2, false), (.statusReport, true)] {
            let received = outputs.datagrams.flatMap {
                responder.receive($0, from: MessagingPair.controllerPeer, now: now)
            }
            let request = try #require(received.messages.first)
            #expect(request.session.kind == nil && request.isFirst == !isLast)
            #expect(request.session.peer == MessagingPair.controllerPeer)
            answered.append(request.exchange)
            let reply = responder.send(
                MatterProtocol.secureChannel, opcode.rawValue, [2], on: request.exchange, isLast: isLast, now: now)
            let result = reply.datagrams.flatMap { initiator.receive($0, from: MessagingPair.devicePeer, now: now) }
            #expect(result.acknowledged == [exchange])
            #expect(result.messages.map(\.opcode) == [opcode.rawValue])
            outputs =
                isLast
                ? initiator.close(exchange, now: now)
                : initiator.send(
                    MatterProtocol.secureChannel, SecureChannelOpcode.sigma3.rawValue, [3], on: exchange,
                    isLast: false, now: now)
        }
        #expect(Set(answered).count == 1)
        let last = outputs.datagrams.flatMap { responder.receive($0, from: MessagingPair.controllerPeer, now: now) }
        #expect(last == [.acknowledged(answered[0])])
        now = now + MessageLayer.Limits.handshakeIdleTime
        for var layer in [initiator, responder] {
            #expect(layer.expire(now: now).isEmpty)
            #expect(layer.exchangeCount == 0 && layer.handshakeCount == 0 && layer.nextDeadline == nil)
        }
    }

    @Test("Only PBKDFParamRequest and Sigma1 begin a handshake; other messages leave no state") func firstMessages() {
        var layer = MessageLayer(seed: 1)
        let first: Set<SecureChannelOpcode> = [.pbkdfParamRequest, .sigma1]
        for code in 0...UInt8.max {
            guard let opcode = SecureChannelOpcode(rawValue: code), !first.contains(opcode) else { continue }
            #expect(layer.receive(message(opcode, node: 1), from: host(1), now: .zero).isEmpty)
        }
        let wrong = [
            message(node: 1, isInitiator: false), message(node: 1, protocolID: MatterProtocol.interactionModel),
            message(node: 1, protocolID: MatterProtocol.bulkData),
            MessageHeader(sessionID: 0, counter: 1, destination: .node(1)).encoded + message(node: 1).dropFirst(16),
            MessageHeader(sessionID: 0, counter: 1, source: 1, destination: .node(1)).encoded
                + message(node: 1).dropFirst(16),
            MessageHeader(sessionID: 0, counter: 1).encoded + message(node: 1).dropFirst(16),
        ]
        for datagram in wrong { #expect(layer.receive(datagram, from: host(1), now: .zero).isEmpty) }
        #expect(layer.handshakeCount == 0 && layer.exchangeCount == 0)
        #expect(layer.receive(message(node: 1), from: host(1), now: .zero).messages.count == 1)
        #expect(layer.receive(message(.pbkdfParamRequest, node: 2), from: host(1), now: .zero).messages.count == 1)
    }

    @Test("A fifth handshake waits until one of another host is idle for 10 s") func fifthHandshake() throws {
        var layer = MessageLayer(seed: 1)
        var exchanges: [ExchangeID] = []
        for number in 1...4 as ClosedRange<UInt8> {
            let now = Instant.zero + .milliseconds(Int64(number))
            let received = layer.receive(message(node: UInt64(number)), from: host(1), now: now)
            exchanges += received.messages.map(\.exchange)
            _ = layer.expire(now: now + .milliseconds(200))
        }
        #expect(exchanges.count == 4)
        let early = Instant.zero + .seconds(9)
        #expect(layer.receive(message(node: 5), from: host(2), now: early).isEmpty)
        let late = Instant.zero + .milliseconds(10_250)
        // The host that has all places cannot replace its own handshakes, even from another port.
        #expect(layer.receive(message(node: 5), from: host(1, port: 9), now: late).isEmpty)
        let accepted = layer.receive(message(node: 5), from: host(2), now: late)
        #expect(accepted.failed == [exchanges[0]] && accepted.messages.count == 1)
        #expect(layer.handshakeCount == MessageLayer.Limits.handshakes)
        // A handshake that has just replaced another one is kept, and the next idle one makes room.
        #expect(layer.receive(message(node: 6), from: host(3), now: late).failed == [exchanges[1]])
    }

    @Test("A handshake that the caller has closed makes room at once") func closedHandshake() throws {
        var layer = MessageLayer(seed: 1)
        var exchanges: [ExchangeID] = []
        for node in 1...4 as ClosedRange<UInt64> {
            exchanges += layer.receive(message(node: node), from: host(1), now: .zero).messages.map(\.exchange)
        }
        #expect(layer.receive(message(node: 5), from: host(1), now: .zero).isEmpty)
        _ = layer.close(exchanges[2], now: .zero)
        #expect(layer.receive(message(node: 5), from: host(1), now: .zero).messages.count == 1)
        #expect(layer.handshakeCount == 4)
        // Handshakes that this node begins have the same limit.
        #expect(layer.openHandshake(with: host(1), now: .zero + .seconds(20)) == nil)
        _ = layer.close(exchanges[1], now: .zero + .seconds(20))
        _ = try layer.openedHandshake(with: host(1), now: .zero + .seconds(20))
        #expect(layer.handshakeCount == 4)
    }

    @Test("A handshake without messages fails after 30 s") func idleHandshake() throws {
        var layer = MessageLayer(seed: 1)
        let exchange = try #require(layer.receive(message(node: 1), from: host(1), now: .zero).messages.first).exchange
        #expect(layer.expire(now: .zero + .seconds(1)).datagrams.count == 1)
        #expect(layer.expire(now: .zero + .milliseconds(29_999)).isEmpty)
        #expect(layer.expire(now: .zero + .seconds(30)) == [.failed(exchange)])
        #expect(layer.handshakeCount == 0 && layer.nextDeadline == nil)
    }

    @Test("A duplicate is acknowledged; a second handshake of the same initiator replaces the first one")
    func repeatedHandshake() throws {
        var layer = MessageLayer(seed: 1)
        let first = message(node: 1)
        let exchange = try #require(layer.receive(first, from: host(1), now: .zero).messages.first).exchange
        let duplicate = layer.receive(first, from: host(1), now: .zero)
        #expect(duplicate.count == 1 && duplicate.receivers == [host(1)])
        let (header, _, rest) = try MessageHeader.decode(duplicate.datagrams[0])
        #expect(header.destination == .node(1) && header.source == nil)
        #expect(try ProtocolHeader.decode(rest).header.acknowledges == 100)
        // The counter is lower than before: the initiator has restarted.
        let again = layer.receive(message(node: 1, counter: 3, exchange: 9), from: host(1), now: .zero)
        #expect(again.failed == [exchange] && again.messages.count == 1)
        #expect(layer.exchangeCount == 1 && layer.handshakeCount == 1)
    }

    @Test("A message from a different address does not affect a handshake") func otherAddress() throws {
        var layer = MessageLayer(seed: 1)
        _ = layer.receive(message(node: 1), from: host(1), now: .zero)
        for peer in [host(2), host(1, port: 1)] {
            #expect(layer.receive(message(.sigma3, node: 1, counter: 101), from: peer, now: .zero).isEmpty)
            #expect(layer.receive(message(node: 1, counter: 102), from: peer, now: .zero).isEmpty)
        }
        #expect(layer.receive(message(.sigma3, node: 1, counter: 101), from: host(1), now: .zero).messages.count == 1)
    }

    @Test("A flood of datagrams of strangers leaves at most 4 handshakes, and secure sessions continue")
    func flood() throws {
        var pair = MessagingPair()
        var random = SeededRandom(seed: 1)
        let opcodes: [SecureChannelOpcode] = [.sigma1, .sigma3, .pbkdfParamRequest, .statusReport]
        var handshakes = 0
        for number in 0..<20_000 {
            pair.now = pair.now + .milliseconds(3)
            let peer = host(UInt8.random(in: 0...255, using: &random))
            var datagram = message(
                opcodes.randomElement(using: &random) ?? .sigma1, node: random.next(), counter: UInt32(number),
                exchange: UInt16.random(in: 0...3, using: &random))
            if random.chance(0.5) {
                datagram[1] = UInt8(truncatingIfNeeded: MessagingPair.deviceSession)
                datagram[2] = datagram[1]
            }
            if random.chance(0.2) {
                datagram = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            }
            let outputs = pair.device.receive(datagram, from: peer, now: pair.now)
            handshakes += outputs.messages.count
            #expect(outputs.messages.allSatisfy { $0.session.kind == nil } && outputs.ended.isEmpty)
            _ = pair.device.expire(now: pair.now)
            #expect(pair.device.handshakeCount <= 4 && pair.device.exchangeCount <= 4)
            guard number.isMultiple(of: 500) else { continue }
            let (exchange, sent) = try pair.request()
            let message = try #require(pair.deviceReceives(sent).messages.first)
            let answer = pair.device.send([1], on: message.exchange, isReliable: false, isLast: true, now: pair.now)
            #expect(pair.controllerReceives(answer).acknowledged == [exchange])
            _ = pair.controller.close(exchange, now: pair.now)
        }
        #expect(pair.device.sessions.map(\.peer) == [MessagingPair.controllerPeer])
        // 60 s of flood: 4 at first, and 4 more each time when they are idle for 10 s.
        #expect((8...40).contains(handshakes), "\(handshakes)")
    }
}
