import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@Suite struct MessagingSessionTests {
    @Test("A message with any changed bit is dropped and leaves no state") func changedBits() throws {
        var pair = MessagingPair()
        let (_, sent) = try pair.request([1, 2, 3])
        let datagram = try #require(sent.datagrams.first)
        for bit in 0..<datagram.count * 8 {
            var changed = datagram
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(pair.device.receive(changed, from: MessagingPair.controllerPeer, now: pair.now).isEmpty)
        }
        for count in 0..<datagram.count {
            let cut = Array(datagram.prefix(count))
            #expect(pair.device.receive(cut, from: MessagingPair.controllerPeer, now: pair.now).isEmpty)
        }
        #expect(pair.device.exchangeCount == 0 && pair.device.nextDeadline == nil)
        #expect(pair.deviceReceives(sent).messages.count == 1)
    }

    @Test("The peer's address follows its newest message, not duplicates or older messages")
    func changedAddress() throws {
        var pair = MessagingPair()
        let peers = (1...4).map { MatterPeer(address: [198, 51, 100, $0], port: 1) }
        let messages = try (0..<3).map { _ in try pair.request().outputs }
        func address() -> MatterPeer? { pair.device.sessions.first?.peer }
        _ = pair.deviceReceives(messages[1], from: peers[0])
        #expect(address() == peers[0])
        _ = pair.deviceReceives(messages[1], from: peers[1])
        _ = pair.deviceReceives(messages[0], from: peers[2])
        #expect(address() == peers[0])
        _ = pair.deviceReceives(messages[2], from: peers[3])
        #expect(address() == peers[3])
    }

    @Test("A message that is older than the window is dropped without an acknowledgement") func oldMessage() throws {
        var pair = MessagingPair()
        let old = try pair.request()
        for _ in 0..<40 {
            let (exchange, sent) = try pair.request()
            for message in pair.deviceReceives(sent).messages {
                let answer = pair.device.send([1], on: message.exchange, isReliable: false, isLast: true, now: pair.now)
                _ = pair.controllerReceives(answer)
            }
            _ = pair.controller.close(exchange, now: pair.now)
        }
        #expect(pair.deviceReceives(old.outputs).isEmpty)
    }

    @Test("CloseSession ends the session of the peer and its exchanges") func closedSession() throws {
        var pair = MessagingPair()
        let (exchange, sent) = try pair.request()
        let message = try #require(pair.deviceReceives(sent).messages.first)
        #expect(pair.device.end(where: { $0.kind == .commissioning }, notifying: true, now: pair.now).isEmpty)
        let outputs = pair.device.end(where: { _ in true }, notifying: true, now: pair.now)
        #expect(outputs.failed == [message.exchange])
        #expect(outputs.ended == [.secure(MessagingPair.deviceSession)])
        #expect(pair.device.sessions.isEmpty && pair.device.exchangeCount == 0)
        let result = pair.controllerReceives(outputs)
        #expect(result == [.failed(exchange), .sessionEnded(.secure(MessagingPair.controllerSession))])
        #expect(pair.controller.sessions.isEmpty && pair.controller.nextDeadline == nil)
        #expect(pair.controller.send([1], on: exchange, now: pair.now).isEmpty)
    }

    @Test("A message of the secure channel does not open an exchange on a secure session")
    func handshakeOnSecureSession() throws {
        var pair = MessagingPair()
        let acknowledgement = SecureChannelOpcode.standaloneAcknowledgement.rawValue
        for opcode in 0...UInt8.max where opcode != acknowledgement {
            let exchange = try pair.controller.opened(on: .secure(MessagingPair.controllerSession))
            let sent = pair.controller.send(
                MatterProtocol.secureChannel, opcode, [0, 0], on: exchange, isLast: true, now: pair.now)
            let received = pair.deviceReceives(sent)
            #expect(received.datagrams.count == 1 && received.count == 1, "opcode \(opcode)")
            #expect(pair.controllerReceives(received) == [.acknowledged(exchange)])
            #expect(pair.device.exchangeCount == 0 && pair.controller.exchangeCount == 0)
        }
    }

    @Test("Session ids are not 0, not in use, and differ in a row") func sessionIDs() {
        var layer = MessageLayer(seed: 5)
        _ = layer.add(session(1, .commissioning), peer: MessagingPair.controllerPeer, now: .zero)
        let ids = (0..<65_534).map { _ in layer.reserveSessionID() }
        #expect(Set(ids).count == 65_534)
        #expect(!ids.contains(0) && !ids.contains(1))
    }

    private func session(_ id: UInt16, _ kind: SessionKind) -> NewSession {
        var session = MessagingPair.sessions().responder
        (session.localID, session.kind) = (id, kind)
        return session
    }

    private func operational(_ fabric: UInt8) -> SessionKind {
        .operational(OperationalPeer(fabric: fabric, node: 1, tags: []))
    }

    @Test("A full table ends the least recently used session of the fabric that exceeds its share")
    func fullTable() {
        var layer = MessageLayer(seed: 6)
        var now = Instant.zero
        var id: UInt16 = 0
        func add(_ kind: SessionKind) -> [MessageLayer.Output] {
            id += 1
            now = now + .seconds(1)
            return layer.add(session(id, kind), peer: MessagingPair.controllerPeer, now: now)
        }
        #expect(add(.commissioning).isEmpty)
        for fabric in 1...5 as ClosedRange<UInt8> {
            for _ in 0..<3 { #expect(add(operational(fabric)).isEmpty) }
        }
        #expect(layer.sessions.count == MessageLayer.Limits.sessions)
        let first = add(operational(2))
        #expect(first.ended == [.secure(5)] && first.datagrams.count == 1)
        #expect(add(.commissioning).ended == [.secure(1)])
        // Fabric 3 now has all places that no other fabric has used.
        _ = layer.end(where: { $0.kind == operational(1) }, notifying: false, now: now)
        for _ in 0..<3 { #expect(add(operational(3)).isEmpty) }
        #expect(add(operational(1)).ended == [.secure(8)])
        #expect(layer.sessions.count == MessageLayer.Limits.sessions)
    }

    @Test("No fabric loses a session within its share to another fabric", arguments: 1...30)
    func shares(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var layer = MessageLayer(seed: 7)
        for number in 1...300 as ClosedRange<UInt16> {
            let before = layer.sessions
            let fabric = UInt8.random(in: 1...(random.chance(0.5) ? 5 : 2), using: &random)
            let kind = random.chance(0.1) ? .commissioning : operational(fabric)
            let outputs = layer.add(
                session(number, kind), peer: MessagingPair.controllerPeer,
                now: .zero + .seconds(Int64(number)))
            #expect(layer.sessions.count <= MessageLayer.Limits.sessions && outputs.ended.count <= 1)
            for ended in outputs.ended {
                let victim = before.first { $0.id == ended }?.kind
                let share = victim == .commissioning ? 1 : 3
                let own = victim == kind ? 1 : 0
                #expect(before.count { $0.kind == victim } + own > share)
            }
        }
    }

    @Test("A session with an id in use replaces the old session") func replacedSession() {
        var layer = MessageLayer(seed: 8)
        _ = layer.add(session(1, .commissioning), peer: MessagingPair.controllerPeer, now: .zero)
        let outputs = layer.add(session(1, operational(1)), peer: MessagingPair.controllerPeer, now: .zero)
        #expect(outputs == [.sessionEnded(.secure(1))])
        #expect(layer.sessions.map(\.kind) == [operational(1)])
    }

    @Test("Descriptions contain addresses and ids, but no secrets") func descriptions() throws {
        let session = try #require(MessagingPair().device.sessions.first)
        #expect("\(session)" == "session 8738 with 192.0.2.1:5540")
        let peer = MatterPeer(address: [0xFE, 0x80] + Array(repeating: 0, count: 13) + [1], scope: 2, port: 5540)
        #expect("\(peer)" == "[fe80:0:0:0:0:0:0:1%2]:5540")
        #expect("\(SessionID.unsecured(255))" == "unsecured session ff")
    }
}
