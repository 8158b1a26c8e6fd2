import Matter
import MatterCryptography
import MatterSessions
import MatterWire
import ProtocolCore
import TestSupport

extension FuzzTarget {
    /// Decodes TLV, headers, certificates, records and messages of the interaction model. The first byte selects the
    /// kind. Valid values are unchanged when written and read again.
    static let matterWire = FuzzTarget(
        name: "matter-wire",
        seeds: { MatterWireInput.seeds },
        check: { bytes in
            guard let kind = bytes.first else { return false }
            return try MatterWireInput.check(kind, Array(bytes.dropFirst()))
        })

    /// Sends datagrams of a peer without a session, messages of a controller in its session, or messages to a group. The
    /// first byte selects the sender, and the behaviour of flash and plug. Each message begins with the time before it,
    /// its opcode, its flags and its length. Peers without a session cannot switch or store anything. All answers are
    /// valid, and messages to a group have none.
    static let matterDevice = FuzzTarget(
        name: "matter-device",
        seeds: { FuzzedMatterPlug.seeds },
        check: { bytes in
            guard bytes.count > 5 else { return false }
            var plug = try FuzzedMatterPlug(bytes[0])
            var rest = bytes.dropFirst()
            // The limit keeps a run short.
            for _ in 0..<40 {
                guard let message = FuzzedMatterPlug.Message(&rest) else { break }
                try plug.handle(message)
            }
            return try plug.rest()
        })
}

private enum MatterWireInput {
    static func check(_ kind: UInt8, _ bytes: [UInt8]) throws(FuzzFailure) -> Bool {
        switch kind {
        case 0x00...0x0A: try message(kind, bytes)
        case 0x10: try tlv(bytes)
        case 0x11: try headers(bytes)
        case 0x12: try certificate(bytes)
        case 0x13: try records(bytes)
        default: false
        }
    }

    private static func message(_ opcode: UInt8, _ bytes: [UInt8]) throws(FuzzFailure) -> Bool {
        guard let message = try? InteractionMessage(opcode: opcode, payload: bytes) else { return false }
        let again = try? InteractionMessage(opcode: message.opcode, payload: message.encoded)
        // NaN is not equal to itself, so the bytes are compared.
        try require(again?.encoded == message.encoded, "a message changes when it is written")
        try require(message.encoded.count == message.encodedCount, "the count of a message is wrong")
        return true
    }

    private static func tlv(_ bytes: [UInt8]) throws(FuzzFailure) -> Bool {
        guard let element = try? TLVElement(decoding: bytes) else { return false }
        // NaN is not equal to itself, so the bytes are compared.
        let again = try? TLVElement(decoding: element.encoded)
        try require(again?.encoded == element.encoded, "an element changes when it is written")
        try require(element.encoded.count == element.encodedCount, "the count of an element is wrong")
        return true
    }

    private static func headers(_ bytes: [UInt8]) throws(FuzzFailure) -> Bool {
        guard let (header, _, rest) = try? MessageHeader.decode(bytes) else { return false }
        // Reserved flags and extensions are needed for the nonce, and are not written again.
        if header.securityFlags & 0x3C == 0 {
            let again = try? MessageHeader.decode(header.encoded + rest)
            try require(again?.header == header, "a message header changes when it is written")
        }
        guard let (inner, payload) = try? ProtocolHeader.decode(rest) else { return false }
        let innerAgain = try? ProtocolHeader.decode((inner.encoded + payload)[...])
        try require(innerAgain?.header == inner, "a protocol header changes when it is written")
        return true
    }

    private static func certificate(_ bytes: [UInt8]) throws(FuzzFailure) -> Bool {
        guard let certificate = try? MatterCertificate(decoding: bytes) else { return false }
        let again = try? MatterCertificate(decoding: certificate.encoded)
        try require(again == certificate, "a certificate changes when it is written")
        try require(!certificate.toBeSigned.isEmpty, "a certificate without signed content")
        return true
    }

    private static func records(_ bytes: [UInt8]) throws(FuzzFailure) -> Bool {
        guard let records = try? MatterRecords(decoding: bytes) else { return false }
        try require((try? MatterRecords(decoding: records.encoded)) == records, "records change when they are written")
        return true
    }

    static let seeds: [[UInt8]] = {
        let path = AttributePath(endpoint: 1, cluster: 6, attribute: 0)
        let read = ReadRequest(
            attributes: [path], events: [EventPath()], eventMinimum: 3,
            versions: [DataVersionFilter(endpoint: 1, cluster: 6, version: 9)], isFabricFiltered: true)
        let data = AttributeData(path: path, version: 7, value: .boolean(true))
        let event = EventData(
            path: EventPath(endpoint: 2, cluster: 0x3B, event: 1), number: 5, priority: 1, timestamp: .system(9),
            value: .fields((0, .unsigned(1))))
        let command = CommandPath(endpoint: 1, cluster: 6, command: 1)
        let messages: [InteractionMessage] = [
            .status(.busy), .read(read),
            .subscribe(SubscribeRequest(keepsSubscriptions: true, minInterval: 1, maxInterval: 60, read: read)),
            .subscribed(id: 4, maxInterval: 60),
            .report(
                ReportData(
                    subscription: 4,
                    attributes: [.data(data), .status(path, InteractionStatus(.unsupportedAccess))],
                    events: [.data(event)], hasMore: true, suppressesResponse: false)),
            .write(WriteRequest(suppressesResponse: false, isTimed: true, writes: [data], hasMore: false)),
            .written([AttributeStatus(path, .success)]),
            .invoke(InvokeRequest(commands: [InvokeCommand(path: command)])),
            .invoked(InvokeResponse(responses: [.status(command, .success, reference: nil)])),
            .timed(milliseconds: 500),
        ]
        let inner = ProtocolHeader(
            isInitiator: true, needsAcknowledgement: true, acknowledges: 7, opcode: 0x20, exchange: 3, protocolID: 0)
        var seeds = messages.map { [$0.opcode] + $0.encoded }
        seeds.append([0x10] + TLVValue.fields((0, .double(1.5)), (1, .text("ü")), (2, .array([.null]))).encoded)
        seeds.append([0x11] + MessageHeader(sessionID: 0, counter: 5, source: 6).encoded + inner.encoded)
        if let issuer = try? MatterCertificateIssuer(fabric: 1, seed: 1, hasIntermediate: true) {
            seeds.append([0x12] + issuer.root.encoded)
            if let intermediate = issuer.intermediate { seeds.append([0x12] + intermediate.encoded) }
        }
        seeds.append([0x13] + MatterRecords().encoded)
        if let house = try? FuzzedMatterPlug.commissioned.get() {
            seeds.append([0x13] + house.plug.flash.records.encoded)
        }
        return seeds
    }()
}

/// A new or commissioned plug with a peer without a session, with a controller, or with the sender of a group.
private struct FuzzedMatterPlug {
    private enum Sender { case stranger, controller, group }

    struct Message {
        var wait: Duration
        var opcode: UInt8
        var continues: Bool
        var payload: [UInt8]

        init?(_ bytes: inout ArraySlice<UInt8>) {
            let head = Array(bytes.prefix(4))
            guard head.count == 4 else { return nil }
            wait = .milliseconds(20 * Int64(head[0]))
            (opcode, continues) = (head[1], head[2] & 0x80 != 0)
            let length = Int(head[2] & 7) << 8 | Int(head[3])
            payload = Array(bytes.dropFirst(4).prefix(length))
            bytes = bytes.dropFirst(4 + payload.count)
        }

        static func encode(_ message: InteractionMessage, continues: Bool = false, wait: UInt8 = 1) -> [UInt8] {
            encode(message.opcode, message.encoded, continues: continues, wait: wait)
        }

        static func encode(_ opcode: UInt8, _ payload: [UInt8], continues: Bool = false, wait: UInt8 = 1) -> [UInt8] {
            [wait, opcode, (continues ? 0x80 : 0) | UInt8(payload.count >> 8), UInt8(payload.count & 255)] + payload
        }
    }

    /// Handshakes are slow, so they are done only once.
    static let commissioned = Result {
        var house = try SimulatedMatterHouse(seed: 1)
        let controller = try house.addFabric()
        try house.perform(controller, .commission(passcode: MatterSetup.passcode))
        house.run(.seconds(60))
        return house
    }
    /// A new plug with a commissioner that has opened a session by the passcode.
    private static let new = Result {
        var house = try SimulatedMatterHouse(seed: 2)
        let controller = try house.addFabric()
        try house.perform(controller, .connectWithPasscode(MatterSetup.passcode))
        return house
    }

    private static let group: UInt16 = 5
    private static let epochKey = [UInt8](repeating: 6, count: 16)
    /// A commissioned plug whose load is a member of a group that may manage the plug.
    private static let member = Result {
        var house = try commissioned.get()
        func path(_ cluster: UInt32, _ attribute: UInt32) -> AttributePath {
            AttributePath(endpoint: 0, cluster: cluster, attribute: attribute)
        }
        func entry(_ privilege: UInt64, _ mode: UInt64, _ subject: UInt64) -> TLVValue {
            .fields((1, .unsigned(privilege)), (2, .unsigned(mode)), (3, .array([.unsigned(subject)])), (4, .null))
        }
        let set = TLVValue.fields((0, .unsigned(7)), (1, .unsigned(0)), (2, .bytes(epochKey)), (3, .unsigned(1)))
        let map = TLVValue.fields((1, .unsigned(UInt64(group))), (2, .unsigned(7)))
        let entries = [entry(5, 2, 0xB000), entry(4, 3, UInt64(group))]
        let addition = TLVValue.fields((0, .unsigned(UInt64(group))), (1, .text("Hall")))
        let requests: [MatterControllerRequest] = [
            .invoke(CommandPath(endpoint: 0, cluster: 0x3F, command: 0), .fields((0, set))),
            .write([AttributeData(path: path(0x3F, 0), value: .array([map]))]),
            .write([AttributeData(path: path(0x1F, 0), value: .array(entries))]),
            .invoke(CommandPath(endpoint: 1, cluster: 4, command: 0), addition),
        ]
        for request in requests { try house.perform(0, request) }
        house.run(.seconds(60))
        return house
    }
    /// The operational key of the group (Matter 4.16.2.1).
    private static let groupKey = Result {
        var randomness = MatterRandomness(seed: Array(repeating: 9, count: 32))
        let fabric = try MatterCertificateIssuer(fabric: 1, seed: 1)
            .identity(node: 7, tags: [], key: randomness.signingKey())
        return FabricIdentity.operationalKey(of: epochKey, compressedID: fabric.compressedID)
    }

    private var house: SimulatedMatterHouse
    private let sender: Sender
    private let records: MatterRecords
    private let commands: Int
    private let sent: Int
    private var received = 0

    init(_ mode: UInt8) throws {
        sender = mode & 64 != 0 ? .group : mode & 2 != 0 ? .controller : .stranger
        let start = sender == .group ? Self.member : mode & 1 != 0 ? Self.commissioned : Self.new
        house = try start.get()
        house.changePlug { plug, _ in
            if mode & 4 != 0 { plug.commandResult = .busy }
            if mode & 8 != 0 { plug.flash.fates = Array(repeating: .failed, count: 100) }
            if mode & 16 != 0 { plug.flash.writeTime = .seconds(3) }
        }
        if mode & 32 != 0 { house.openWindow() }
        house.run(.seconds(10))
        (records, commands, sent) = (house.plug.flash.records, house.plug.commands.count, house.datagrams)
    }

    mutating func handle(_ message: Message) throws {
        received += 1
        switch sender {
        case .controller:
            house.change(0) { controller, now in
                controller.sendRaw(message.opcode, message.payload, continues: message.continues, now: now)
            }
        case .stranger:
            house.inject(message.payload, from: SimulatedMatterHouse.address(of: 1000 + Int(message.opcode)))
        case .group: house.inject(try sealed(message), from: SimulatedMatterHouse.address(of: 1000))
        }
        house.run(message.wait)
        house.changePlug { $0.press(now: $1) }
        try check()
    }

    private func sealed(_ message: Message) throws -> [UInt8] {
        var frame = GroupFrame(
            .status(.success), operationalKey: try Self.groupKey.get(), counter: UInt32(received), node: 7,
            group: Self.group)
        let header = ProtocolHeader(
            isInitiator: true, needsAcknowledgement: false, opcode: message.opcode, exchange: 7,
            protocolID: MatterProtocol.interactionModel)
        frame.plain = header.encoded + message.payload
        return try frame.sealed(OpenSSLCryptography(), hasPrivacy: message.continues)
    }

    private func check() throws {
        try require(!house.isStuck, "a deadline does not advance")
        try require(house.repeatedNonces == 0, "a nonce was repeated")
        try require(house.plug.device.fabrics.count <= 16, "too many fabrics")
        let stored = house.plug.flash.records
        try require((try? MatterRecords(decoding: stored.encoded)) == stored, "the records cannot be read again")
        // Each message causes at most five transmissions of a few answers, an acknowledgement and reports.
        try require(house.datagrams - sent < 500 + 50 * received, "the plug sends without a limit")
        for controller in house.controllers {
            try require(controller.malformedMessages == 0, "the plug sent a malformed message")
        }
        try require(sender != .group || house.datagrams == sent, "a message to a group was answered")
        guard sender == .stranger else { return }
        try require(house.plug.commands.count == commands, "a peer without a session switched the plug")
        try require(stored.encoded.count == records.encoded.count, "a peer without a session changed the records")
    }

    /// Checks the plug again after all time limits. Returns true if the plug answered any message, or performed a
    /// command of the group.
    mutating func rest() throws -> Bool {
        let answered =
            switch sender {
            case .controller:
                house.controllers[0].rawAnswers.contains { answer in
                    if case .status(let code) = answer { code != .invalidAction } else { true }
                }
            case .stranger: house.datagrams > sent
            case .group: house.plug.commands.count > commands
            }
        house.run(.seconds(200))
        try check()
        if let deadline = house.plug.device.nextDeadline {
            try require(deadline > house.now - .seconds(1), "a deadline was ignored")
        }
        return answered
    }

    static let seeds: [[UInt8]] = {
        let relay = AttributePath(endpoint: 1, cluster: 6, attribute: 0)
        let all = ReadRequest(attributes: [AttributePath()], events: [EventPath()], isFabricFiltered: false)
        func invoke(_ endpoint: UInt16?, _ cluster: UInt32, _ command: UInt32, _ fields: TLVValue) -> InteractionMessage
        {
            let path = CommandPath(endpoint: endpoint, cluster: cluster, command: command)
            return .invoke(InvokeRequest(commands: [InvokeCommand(path: path, fields: fields)]))
        }
        func write(_ path: AttributePath, _ value: TLVValue) -> InteractionMessage {
            .write(
                WriteRequest(
                    suppressesResponse: false, isTimed: false, writes: [AttributeData(path: path, value: value)],
                    hasMore: false))
        }
        let subscription = SubscribeRequest(
            keepsSubscriptions: false, minInterval: 0, maxInterval: 60,
            read: ReadRequest(attributes: [relay], events: [EventPath(isUrgent: true)], isFabricFiltered: true))
        let entry = TLVValue.fields((1, .unsigned(5)), (2, .unsigned(2)), (3, .null), (4, .null), (254, .unsigned(1)))
        let list = AttributePath(endpoint: 0, cluster: 0x1F, attribute: 0)
        var seeds: [[UInt8]] = [
            [3] + Message.encode(.read(all)) + Message.encode(.status(.success), continues: true),
            [3] + Message.encode(.subscribe(subscription)) + Message.encode(.status(.success), continues: true)
                + Message.encode(invoke(1, 6, 2, .fields())),
            [3] + Message.encode(write(AttributePath(endpoint: 0, cluster: 0x28, attribute: 5), .text("Lamp"))),
            [3] + Message.encode(write(list, .array([entry]))),
            [7] + Message.encode(invoke(1, 6, 1, .fields())),
            [11] + Message.encode(invoke(0, 0x3E, 0x0A, .fields((0, .unsigned(1))))),
            [3] + Message.encode(.timed(milliseconds: 500))
                + Message.encode(invoke(0, 0x3C, 1, .fields((0, .unsigned(180)))), continues: true),
            [2] + Message.encode(invoke(0, 0x30, 0, .fields((0, .unsigned(60)), (1, .unsigned(1)))))
                + Message.encode(invoke(0, 0x3E, 4, .fields((0, .bytes(Array(repeating: 1, count: 32)))))),
            [18] + Message.encode(invoke(0, 0x3E, 0, .fields((0, .bytes(Array(repeating: 1, count: 32)))))),
            [64] + Message.encode(invoke(nil, 6, 2, .fields()))
                + Message.encode(invoke(nil, 6, 1, .fields()), continues: true),
            [64] + Message.encode(invoke(nil, 6, 2, .fields())) + Message.encode(invoke(nil, 4, 4, .fields()))
                + Message.encode(invoke(nil, 6, 2, .fields())),
        ]
        for opcode in [SecureChannelOpcode.pbkdfParamRequest, .sigma1] {
            if let first = try? firstMessage(opcode) {
                seeds.append([32] + Message.encode(1, first) + Message.encode(1, first))
                seeds.append([33] + Message.encode(1, first))
            }
        }
        return seeds
    }()

    /// The datagram with which a handshake begins.
    private static func firstMessage(_ opcode: SecureChannelOpcode) throws -> [UInt8] {
        var randomness = MatterRandomness(seed: Array(repeating: 9, count: 32))
        let header = MessageHeader(sessionID: 0, counter: 77, source: 99)
        let inner = ProtocolHeader(
            isInitiator: true, needsAcknowledgement: true, opcode: opcode.rawValue, exchange: 5,
            protocolID: MatterProtocol.secureChannel)
        guard opcode == .sigma1 else {
            var initiator = PASEInitiator(passcode: MatterSetup.passcode, sessionID: 7, randomness: randomness)
            return header.encoded + inner.encoded + initiator.start().1
        }
        let identity = try MatterCertificateIssuer(fabric: 1, seed: 1)
            .identity(node: 0xB000, tags: [], key: randomness.signingKey())
        var initiator = CASEInitiator(
            fabric: identity, peer: 0x1000, sessionID: 7, randomness: randomness)
        return header.encoded + inner.encoded + (try initiator.start(OpenSSLCryptography())).1
    }
}
