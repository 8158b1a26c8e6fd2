import MatterCryptography
import MatterSessions
import MatterWire
import ProtocolCore
import TestSupport

/// A message layer with one secure session in virtual time. The first byte of each datagram is a control byte:
///
/// - Bit 0: 1 for a message of the session's peer. The second byte is then the distance of its counter from the highest
///   one, and the rest is encrypted. 0 for a datagram of a stranger, which arrives as it is. But if it has the header
///   of a message to a group, the rest is encrypted with the group's key.
/// - Bits 1 and 2: the host that sends the datagram.
/// - Bits 3 and 4: the answer to delivered messages: 0 the last message of the exchange, 1 none, and the exchange is
///   closed, 2 none, 3 a message that is not reliable.
/// - Bits 5 to 7: the time before the datagram.
struct FuzzedMessages {
    private static let localID: UInt16 = 1
    private static let peerID: UInt16 = 2
    private static let group: UInt16 = 5
    private static let groupKey = [UInt8](repeating: 6, count: 16)
    /// The number of expirations after which a run counts as endless.
    private static let stepLimit = 5000

    /// True if a message was delivered.
    private(set) var isUnderstood = false
    private let cryptography: OpenSSLCryptography
    private let keys: NewSession
    private var layer: MessageLayer
    private var now = Instant.zero
    private var highest: UInt32 = 1000
    /// The counters of the peer whose messages were delivered.
    private var delivered: Set<UInt32> = []
    /// The newest messages to the group that were delivered.
    private var lastOfGroup: [GroupSender: UInt32] = [:]
    /// The datagrams that the layer has sent.
    private(set) var sent: [[UInt8]] = []

    init() throws {
        cryptography = try OpenSSLCryptography()
        layer = MessageLayer(
            cryptography: cryptography, randomness: MatterRandomness(seed: Array(repeating: 4, count: 32)))
        keys = NewSession(
            localID: Self.localID, peerID: Self.peerID, kind: .commissioning, isInitiator: false,
            sendKey: Array(repeating: 1, count: 16), receiveKey: Array(repeating: 2, count: 16),
            attestationChallenge: Array(repeating: 3, count: 16), localNode: 0, peerNode: 0, parameters: .standard)
        layer.groupKeys = [GroupKey(fabric: 1, groups: [Self.group], operationalKey: Self.groupKey)]
        _ = layer.add(keys, peer: Self.host(0), now: now)
    }

    private static func host(_ number: UInt8) -> MatterPeer { MatterPeer(address: [192, 0, 2, number], port: 5540) }

    mutating func receive(_ datagram: [UInt8]) throws {
        guard let control = datagram.first else { return }
        if control >> 5 > 0 { try wait(.milliseconds(50 << Int64(control >> 5))) }
        let host = Self.host(control >> 1 & 3)
        var bytes = Array(datagram.dropFirst())
        var counter: UInt32?
        if control & 1 != 0 {
            guard let step = bytes.first else { return }
            let number = highest &+ UInt32(bitPattern: Int32(Int8(bitPattern: step)))
            bytes = try sealed(Array(bytes.dropFirst()), counter: number)
            (counter, highest) = (number, max(highest, number))
        }
        let header = (try? MessageHeader.decode(bytes)).map { ($0.header, Array($0.rest)) }
        if counter == nil, let (header, rest) = header, header.isGroupSession {
            bytes = try sealedForGroup(rest, header)
        }
        let outputs = layer.receive(bytes, from: host, now: now)
        for case .groupMessage(let message) in outputs {
            isUnderstood = true
            let counter = header?.0.counter
            try require(message.sender.group == Self.group, "a message has the wrong group")
            // The layer remembers a limited number of senders.
            try require(
                lastOfGroup.count > MessageLayer.Limits.groupSenders || lastOfGroup[message.sender] != counter,
                "a message to the group was delivered twice")
            lastOfGroup[message.sender] = counter
        }
        for case .message(let message) in outputs {
            try require((message.session.kind == nil) == (counter == nil), "a message has the wrong session")
            if let counter {
                try require(delivered.insert(counter).inserted, "a message was delivered twice")
            } else {
                try require(
                    message.protocolID == MatterProtocol.secureChannel, "a message of a stranger has a wrong protocol")
                try require(message.session.peer == host, "a message has the wrong sender")
            }
        }
        if counter == nil, case .secure(let id) = layer.sessions.first?.id {
            try require(id == Self.localID, "the session has changed")
        }
        try handle(outputs, control)
    }

    private func sealedForGroup(_ plain: [UInt8], _ header: MessageHeader) throws -> [UInt8] {
        var frame = GroupFrame(
            .status(.success), operationalKey: Self.groupKey, counter: header.counter, node: header.source ?? 0,
            group: Self.group)
        (frame.plain, frame.isControl) = (plain, header.isControl)
        return try frame.sealed(cryptography, hasPrivacy: header.hasPrivacy)
    }

    private func sealed(_ plain: [UInt8], counter: UInt32) throws -> [UInt8] {
        let header = MessageHeader(sessionID: Self.localID, counter: counter)
        let nonce =
            [header.securityFlags] + (0..<4).map { UInt8(truncatingIfNeeded: counter >> (8 * UInt32($0))) }
            + Array(repeating: 0, count: 8)
        return header.encoded
            + (try cryptography.seal(plain, key: keys.receiveKey, nonce: nonce, authenticating: header.encoded))
    }

    private mutating func handle(_ outputs: [MessageLayer.Output], _ control: UInt8) throws {
        for output in outputs {
            switch output {
            case .send(let bytes, _):
                let (header, _, _) = try MessageHeader.decode(bytes)
                try require(bytes.count <= MessageLayer.Limits.datagram, "a datagram is too long")
                try require([0, Self.peerID].contains(header.sessionID), "a datagram has a wrong session")
                sent.append(bytes)
            case .message(let message):
                isUnderstood = true
                try answer(message, control >> 3 & 3)
            case .groupMessage, .acknowledged, .failed: break
            case .sessionEnded(let id):
                try require(id == .secure(Self.localID), "an unknown session ended")
                try require(layer.sessions.isEmpty, "an ended session is listed")
            }
        }
        try require(layer.handshakeCount <= MessageLayer.Limits.handshakes, "there are too many handshakes")
        try require(
            layer.exchangeCount <= MessageLayer.Limits.exchangesPerSession + MessageLayer.Limits.handshakes,
            "there are too many exchanges")
    }

    private mutating func answer(_ message: IncomingMessage, _ choice: UInt8) throws {
        switch choice {
        case 0, 3:
            let outputs = layer.send(
                message.protocolID, message.opcode, message.payload.suffix(MessageLayer.payloadLimit),
                on: message.exchange, isReliable: choice == 0, isLast: choice == 0, now: now)
            try handle(outputs, 2 << 3)
        case 1: try handle(layer.close(message.exchange, now: now), 2 << 3)
        default: break
        }
    }

    private mutating func wait(_ time: Duration) throws {
        let end = now + time
        try expire(until: end)
        now = max(now, end)
    }

    /// Handles all deadlines until the time.
    private mutating func expire(until end: Instant) throws {
        for _ in 0..<Self.stepLimit {
            guard let deadline = layer.nextDeadline, deadline <= end else { return }
            now = max(now, deadline)
            try handle(layer.expire(now: now), 2 << 3)
        }
        throw FuzzFailure("the deadlines do not end")
    }

    /// Waits until all exchanges have ended.
    mutating func rest() throws {
        try expire(until: now + .seconds(600))
        try require(layer.nextDeadline == nil, "a deadline remains")
        try require(layer.exchangeCount == 0 && layer.handshakeCount == 0, "an exchange remains")
    }

    // MARK: - Seeds

    static func seeds() throws -> [[UInt8]] {
        func message(
            _ opcode: UInt8, _ protocolID: UInt16, exchange: UInt16 = 1, acknowledges: UInt32? = nil,
            _ payload: [UInt8] = []
        ) -> [UInt8] {
            ProtocolHeader(
                isInitiator: true, needsAcknowledgement: acknowledges == nil, acknowledges: acknowledges,
                opcode: opcode, exchange: exchange, protocolID: protocolID
            ).encoded + payload
        }
        func stranger(_ opcode: SecureChannelOpcode, node: UInt64, counter: UInt32, control: UInt8) -> [UInt8] {
            [control] + MessageHeader(sessionID: 0, counter: counter, source: node).encoded
                + message(opcode.rawValue, MatterProtocol.secureChannel)
        }
        func toGroup(_ counter: UInt32, hasPrivacy: Bool) -> [UInt8] {
            let header = MessageHeader(
                sessionID: 0, counter: counter, source: 7, destination: .group(group), isGroupSession: true,
                hasPrivacy: hasPrivacy)
            return [0] + header.encoded + message(8, MatterProtocol.interactionModel, acknowledges: 1, [1, 2])
        }
        let request = message(8, MatterProtocol.interactionModel, [1, 2, 3])
        // The counter of the first answer, which the peer acknowledges.
        var probe = try FuzzedMessages()
        try probe.receive([1, 1] + request)
        let answered = try probe.sent.first.map { try MessageHeader.decode($0).header.counter }
        let acknowledgement = message(
            SecureChannelOpcode.standaloneAcknowledgement.rawValue, MatterProtocol.secureChannel,
            acknowledges: answered)
        let close = message(
            SecureChannelOpcode.statusReport.rawValue, MatterProtocol.secureChannel, exchange: 9,
            StatusReport.closeSession.encoded)
        return [
            framed([[1, 1] + request, [1, 0] + request, [1, 1] + acknowledgement]),
            framed([[0x51, 5] + request, [0x13, 0xFC] + request, [0x31, 40] + request, [1, 0x80] + request]),
            framed([[0x09, 1] + request, [1, 1] + close, [1, 1] + request]),
            framed([toGroup(5, hasPrivacy: false), toGroup(9, hasPrivacy: true), toGroup(5, hasPrivacy: true)]),
            framed([
                stranger(.sigma1, node: 7, counter: 5, control: 0x10),
                stranger(.sigma3, node: 7, counter: 6, control: 0x20),
                stranger(.sigma1, node: 7, counter: 5, control: 0x40),
            ]),
            framed(
                (1...7).map { number in
                    stranger(
                        .pbkdfParamRequest, node: UInt64(number), counter: 1,
                        control: UInt8(number % 4 * 2) | (number > 5 ? 0xF0 : 0x10))
                }),
            framed(
                (1...12).map { number in
                    [0x11, 1] + message(2, MatterProtocol.interactionModel, exchange: number)
                }),
        ]
    }
}
