import MatterCryptography
import MatterWire
import TestSupport
import Testing

@testable import MatterSessions

/// Messages to groups (Matter 4.16), their session ids and keys (Matter 4.17) and their privacy (Matter 4.9).
@Suite struct GroupMessageTests {
    private static let operationalKey = hexadecimal("ca92d7a0942d1a511a0e26ad074f4c2f")
    private static let key = GroupKey(fabric: 1, groups: [2, 9], operationalKey: operationalKey)
    private static let command = InteractionMessage.invoke(
        InvokeRequest(commands: [InvokeCommand(path: CommandPath(endpoint: nil, cluster: 6, command: 1))]))

    private static func hexadecimal(_ text: String) -> [UInt8] {
        stride(from: 0, to: text.count, by: 2).map { start in
            let first = text.index(text.startIndex, offsetBy: start)
            return UInt8(text[first...text.index(after: first)], radix: 16) ?? 0
        }
    }

    private static func frame(_ counter: UInt32, node: UInt64 = 5, group: UInt16 = 2) -> GroupFrame {
        GroupFrame(command, operationalKey: operationalKey, counter: counter, node: node, group: group)
    }

    private static func layer(_ keys: [GroupKey] = [key]) -> MessageLayer {
        var layer = MessageLayer(
            cryptography: FakeCryptography(), randomness: MatterRandomness(seed: Array(repeating: 1, count: 32)))
        layer.groupKeys = keys
        return layer
    }

    /// Returns the messages to groups that a layer accepts.
    private static func receive(_ frames: [[UInt8]], _ layer: inout MessageLayer) -> [GroupMessage] {
        frames.flatMap { layer.receive($0, from: MessagingPair.devicePeer, now: .zero) }.compactMap {
            if case .groupMessage(let message) = $0 { message } else { nil }
        }
    }

    @Test("The session id is derived from the operational key, as in the specification's example")
    func sessionIDOfTheSpecification() {
        let compressed = Self.hexadecimal("87e1b004e235a130")
        let epoch = Self.hexadecimal("235bf7e62823d358dca4ba50b1535f4b")
        let key = FabricIdentity.operationalKey(of: epoch, compressedID: compressed)
        #expect(key == Self.hexadecimal("a6f5306baf6d050af23ba4bd6b9dd960"))
        #expect(GroupKey(fabric: 1, groups: [2], operationalKey: key).sessionID == 0xB9F7)
    }

    @Test("Two messages of the Matter SDK's tests are decrypted, one with an obfuscated header")
    func messagesOfTheSDK() throws {
        let open = "067ddb01785634120100000000000000020065c767bc6cda0106c9801323900e9b3ce6d4bb0327d6"
        let hidden = "067ddb81d926afce24c8a0981bdd44f4e7302b2f915a66c9596290ebe4408217b3c0c921a2fca4e1"
        let cryptography = try OpenSSLCryptography()
        for (text, counter) in [(open, 0x1234_5678), (hidden, 0x1234_5679)] {
            let message = try #require(Self.key.open(Self.hexadecimal(text), cryptography))
            #expect(message.counter == UInt32(counter))
            #expect(message.sender == GroupSender(fabric: 1, node: 1, group: 2))
            #expect(message.plain == [0x01, 0x64, 0xEE, 0x0E, 0x20, 0x7D])
        }
    }

    @Test("A message names its sender, and is received once", arguments: [false, true])
    func oneMessage(hasPrivacy: Bool) throws {
        var layer = Self.layer()
        let datagram = try Self.frame(100).sealed(FakeCryptography(), hasPrivacy: hasPrivacy)
        let expected = GroupMessage(
            sender: GroupSender(fabric: 1, node: 5, group: 2), opcode: Self.command.opcode,
            payload: Self.command.encoded)
        #expect(Self.receive([datagram, datagram], &layer) == [expected])
    }

    @Test("Changed messages, and messages with other keys or to other groups, have no effect")
    func foreignMessages() throws {
        var layer = Self.layer()
        let cryptography = FakeCryptography()
        var frames: [[UInt8]] = [try Self.frame(1, group: 3).sealed(cryptography)]
        let other = GroupFrame(
            Self.command, operationalKey: Array(repeating: 9, count: 16), counter: 2, node: 5, group: 2)
        frames.append(try other.sealed(cryptography))
        var renumbered = other
        renumbered.sessionID = Self.key.sessionID
        frames.append(try renumbered.sealed(cryptography))
        var control = Self.frame(3)
        control.isControl = true
        frames.append(try control.sealed(cryptography))
        for hasPrivacy in [false, true] {
            let datagram = try Self.frame(4).sealed(cryptography, hasPrivacy: hasPrivacy)
            for place in datagram.indices {
                var changed = datagram
                changed[place] ^= 1
                frames.append(changed)
            }
            frames += datagram.indices.map { Array(datagram.prefix($0)) }
        }
        #expect(Self.receive(frames, &layer) == [])
        #expect(Self.receive([try Self.frame(4).sealed(cryptography)], &layer).count == 1)
        layer.groupKeys = []
        #expect(Self.receive([try Self.frame(5).sealed(cryptography)], &layer) == [])
    }

    @Test("A message that requests an acknowledgement, or belongs to a different protocol, has no effect")
    func wrongProtocolHeaders() throws {
        var layer = Self.layer()
        let wrong = [
            ProtocolHeader(
                isInitiator: true, needsAcknowledgement: true, opcode: 8, exchange: 7,
                protocolID: MatterProtocol.interactionModel),
            ProtocolHeader(
                isInitiator: false, needsAcknowledgement: false, opcode: 8, exchange: 7,
                protocolID: MatterProtocol.interactionModel),
            ProtocolHeader(
                isInitiator: true, needsAcknowledgement: false, opcode: 0x20, exchange: 7,
                protocolID: MatterProtocol.secureChannel),
        ]
        for (number, header) in wrong.enumerated() {
            var frame = Self.frame(UInt32(number))
            frame.plain = header.encoded + Self.command.encoded
            #expect(Self.receive([try frame.sealed(FakeCryptography())], &layer) == [])
        }
    }

    @Test("Each sender has its own counter. The oldest sender is forgotten when too many are heard")
    func senders() throws {
        var layer = Self.layer()
        let cryptography = FakeCryptography()
        let limit = UInt64(MessageLayer.Limits.groupSenders)
        for node in 1...limit {
            #expect(Self.receive([try Self.frame(10, node: node).sealed(cryptography)], &layer).count == 1)
        }
        for node in 1...limit {
            #expect(Self.receive([try Self.frame(10, node: node).sealed(cryptography)], &layer) == [])
        }
        #expect(Self.receive([try Self.frame(10, node: limit + 1).sealed(cryptography)], &layer).count == 1)
        #expect(Self.receive([try Self.frame(10, node: 2).sealed(cryptography)], &layer) == [])
        #expect(Self.receive([try Self.frame(10, node: 1).sealed(cryptography)], &layer).count == 1)
    }

    @Test("The counter of a sender to groups continues with 0 after its last value")
    func wrappingCounters() {
        var window = ReplayWindow(.wrapping)
        window.record(.max - 1)
        #expect(window.verdict(of: .max) == .new && window.verdict(of: 3) == .new)
        window.record(3)
        #expect(window.isHighest(3) && !window.isHighest(.max))
        #expect(window.verdict(of: 3) == .duplicate && window.verdict(of: .max - 1) == .duplicate)
        #expect(window.verdict(of: .max) == .new && window.verdict(of: 2) == .new)
        window.record(.max)
        #expect(window.verdict(of: .max) == .duplicate)
        #expect(window.verdict(of: .max - 40) == .unknown && window.verdict(of: 0x8000_0003) == .unknown)
        #expect(window.verdict(of: 0x8000_0002) == .new)
    }

    @Test("The multicast address contains the fabric and the group")
    func multicastAddress() {
        #expect(
            FabricIdentity.multicastAddress(group: 0x0102, fabricID: 0x1122_3344_5566_7788)
                == Self.hexadecimal("ff350040fd11223344556677880001" + "02"))
    }
}
