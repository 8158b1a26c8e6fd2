import Crypto
import Matter
import MatterCryptography
import MatterSessions
import MatterWire
import ProtocolCore
import Testing

/// A plug, a controller with its own fabric, and a link between them without losses, in virtual time.
struct DeviceLink {
    enum LinkError: Error {
        case noAnswer
        case refused(MatterError)
        case unexpected(InteractionMessage)
    }

    static let passcode: UInt32 = 20_202_021
    static let controllerPeer = MatterPeer(address: [10, 0, 0, 2], port: 5540)
    static let devicePeer = MatterPeer(address: [10, 0, 0, 3], port: 5540)
    static let fabricID: UInt64 = 0xFAB0_0000_0000_0001
    static let controllerNode: UInt64 = 0x1B669
    static let deviceNode: UInt64 = 0x42

    let cryptography: any MatterCryptography
    let attestationKey: P256.Signing.PrivateKey
    let configuration: MatterDevice.Configuration
    var device: MatterDevice
    var controller: MessageLayer
    var random = MatterRandomness(seed: [UInt8](repeating: 7, count: 32))
    var now = Instant.zero + .seconds(10)
    /// Messages that the controller received and the test has not read.
    var inbox: [IncomingMessage] = []
    var commands: [NodeCommand] = []
    /// The origins of the commands.
    var askers: [String?] = []
    /// The multicast addresses whose datagrams the plug receives.
    private(set) var joined: Set<[UInt8]> = []
    var stored: [MatterRecords] = []
    var notices: [MatterNotice] = []
    var announceCount = 0
    /// The result of the plug's stores, or nil while they have no answer.
    var storeResult: Bool? = true
    private(set) var values = PlugValues(isOn: false)
    private var waiting: [MatterDevice.Action] = []
    private var isPerforming = false

    init() throws {
        let cryptography = try OpenSSLCryptography()
        self.cryptography = cryptography
        attestationKey = random.signingKey()
        configuration = MatterDevice.Configuration(
            verifier: try SpakeVerifier(
                passcode: Self.passcode, salt: [UInt8](repeating: 3, count: 16), iterations: 1000, cryptography),
            discriminator: 3840, vendorName: "Test", productName: "Plug", serialNumber: "1", firmware: "1.0",
            features: NodeFeatures(dims: false, meters: true, hasButton: true),
            attestation: AttestationCredentials(
                dac: [0x30, 1, 1], pai: [0x30, 1, 2], declaration: [0x30, 1, 3],
                key: Array(attestationKey.rawRepresentation)),
            uniqueID: "unique", hardwareAddress: [2, 0, 0, 0, 0, 1], interfaceName: "eth0", name: "Lamp")
        device = MatterDevice(
            configuration, records: MatterRecords(), cryptography: cryptography, seed: random.bytes(32))
        controller = MessageLayer(cryptography: cryptography, randomness: random.split())
        handle(.started)
        handle(.looked(values))
        handle(.opened(.seconds(900)))
    }

    // MARK: The link

    mutating func handle(_ event: MatterDevice.Event) { perform(device.handle(event, now: now)) }

    /// Performs actions in order. Actions of the device's next events wait until all earlier ones are done.
    private mutating func perform(_ actions: [MatterDevice.Action]) {
        waiting += actions
        guard !isPerforming else { return }
        isPerforming = true
        while !waiting.isEmpty { perform(waiting.removeFirst()) }
        isPerforming = false
    }

    private mutating func perform(_ action: MatterDevice.Action) {
        switch action {
        case .send(let datagram, let peer):
            guard peer == Self.controllerPeer else { return }
            perform(controller.receive(datagram, from: Self.devicePeer, now: now))
        case .ask(let ticket, let command, let asker):
            commands.append(command)
            askers.append(asker)
            if case .on(let isOn, _) = command { values.isOn = isOn }
            handle(.looked(values))
            handle(.answered(ticket, .success))
        case .store(let records):
            stored.append(records)
            if let storeResult { handle(.stored(storeResult)) }
        case .announce: announceCount += 1
        case .join(let addresses): joined = addresses
        case .notice(let notice): notices.append(notice)
        }
    }

    mutating func perform(_ outputs: [MessageLayer.Output]) {
        for output in outputs {
            switch output {
            case .send(let datagram, _): handle(.received(datagram, from: Self.controllerPeer))
            case .message(let message): inbox.append(message)
            case .groupMessage, .acknowledged, .failed, .sessionEnded: break
            }
        }
    }

    /// Replaces the plug by one that has only the stored records.
    mutating func restart() throws {
        let records = try MatterRecords(decoding: try #require(stored.last).encoded)
        device = MatterDevice(configuration, records: records, cryptography: cryptography, seed: random.bytes(32))
        joined = []
        handle(.started)
        handle(.looked(values))
    }

    mutating func wait(_ duration: Duration) {
        let end = now + duration
        while let deadline = sooner(device.nextDeadline, controller.nextDeadline), deadline <= end {
            now = max(now, deadline)
            perform(controller.expire(now: now))
            handle(.deadlineReached)
        }
        now = end
    }

    private mutating func next(on exchange: ExchangeID) throws -> IncomingMessage {
        guard let index = inbox.firstIndex(where: { $0.exchange == exchange }) else { throw LinkError.noAnswer }
        return inbox.remove(at: index)
    }

    // MARK: Sessions

    mutating func openCommissioningSession(passcode: UInt32 = passcode) throws -> SessionContext {
        var initiator = PASEInitiator(
            passcode: passcode, sessionID: controller.reserveSessionID(), randomness: random.split())
        let cryptography = cryptography
        return try handshake(initiator.start()) { initiator.handle($0, $1, cryptography) }
    }

    mutating func openOperationalSession(_ fabric: CASEFabric) throws -> SessionContext {
        var initiator = CASEInitiator(
            fabric: fabric, peer: Self.deviceNode, sessionID: controller.reserveSessionID(),
            randomness: random.split())
        let cryptography = cryptography
        return try handshake(initiator.start(cryptography)) { initiator.handle($0, $1, cryptography) }
    }

    private mutating func handshake(
        _ first: (opcode: SecureChannelOpcode, payload: [UInt8]),
        _ handle: (SecureChannelOpcode, [UInt8]) -> HandshakeResult
    ) throws -> SessionContext {
        guard let exchange = controller.openHandshake(with: Self.devicePeer, now: now) else {
            throw LinkError.noAnswer
        }
        send(first, on: exchange)
        while true {
            let message = try next(on: exchange)
            let opcode = try #require(SecureChannelOpcode(rawValue: message.opcode))
            switch handle(opcode, message.payload) {
            case .reply(let opcode, let payload): send((opcode, payload), on: exchange)
            case .finished(let reply, let session):
                perform(controller.add(session, peer: Self.devicePeer, now: now))
                if let reply { send(reply, on: exchange) }
                perform(controller.close(exchange, now: now))
                return try #require(controller.sessions.last { $0.id == .secure(session.localID) })
            case .failed(let reply, let error):
                if let reply { send(reply, on: exchange) }
                perform(controller.close(exchange, now: now))
                throw LinkError.refused(error)
            }
        }
    }

    private mutating func send(_ message: (SecureChannelOpcode, [UInt8]), on exchange: ExchangeID) {
        perform(
            controller.send(
                MatterProtocol.secureChannel, message.0.rawValue, message.1, on: exchange, isLast: false, now: now))
    }

    // MARK: Interactions

    mutating func send(_ message: InteractionMessage, on exchange: ExchangeID, isLast: Bool = false) {
        perform(
            controller.send(
                MatterProtocol.interactionModel, message.opcode, message.encoded, on: exchange, isLast: isLast,
                now: now))
    }

    /// Sends a request and returns the exchange.
    mutating func begin(_ message: InteractionMessage, _ session: SessionContext) throws -> ExchangeID {
        guard let exchange = controller.openExchange(on: session.id) else { throw LinkError.noAnswer }
        send(message, on: exchange)
        return exchange
    }

    mutating func answer(on exchange: ExchangeID) throws -> InteractionMessage {
        let message = try next(on: exchange)
        return try InteractionMessage(opcode: message.opcode, payload: message.payload)
    }

    mutating func request(_ message: InteractionMessage, _ session: SessionContext) throws -> InteractionMessage {
        let exchange = try begin(message, session)
        let answer = try answer(on: exchange)
        perform(controller.close(exchange, now: now))
        return answer
    }

    /// Invokes a command and returns the only reply.
    mutating func invoke(
        _ endpoint: UInt16, _ cluster: UInt32, _ command: UInt32, _ session: SessionContext,
        _ fields: TLVValue = .structure([])
    ) throws -> InvokeReply {
        let path = CommandPath(endpoint: endpoint, cluster: cluster, command: command)
        let answer = try request(
            .invoke(InvokeRequest(commands: [InvokeCommand(path: path, fields: fields)])), session)
        guard case .invoked(let response) = answer, let reply = response.responses.first else {
            throw LinkError.unexpected(answer)
        }
        return reply
    }

    /// Invokes a command and returns the fields of its response command.
    mutating func respond(
        _ cluster: UInt32, _ command: UInt32, _ fields: TLVValue, _ session: SessionContext
    ) throws -> TLVValue {
        let reply = try invoke(0, cluster, command, session, fields)
        guard case .command(_, let response, reference: _) = reply else {
            throw LinkError.unexpected(.invoked(InvokeResponse(responses: [reply])))
        }
        return response
    }

    /// Reads or subscribes, and confirms each chunk. Returns all reports and the message after them.
    mutating func reports(
        _ message: InteractionMessage, _ session: SessionContext
    ) throws -> (reports: [ReportData], last: InteractionMessage?) {
        let exchange = try begin(message, session)
        defer { perform(controller.close(exchange, now: now)) }
        return try reports(on: exchange)
    }

    mutating func reports(on exchange: ExchangeID) throws -> (reports: [ReportData], last: InteractionMessage?) {
        var reports: [ReportData] = []
        while let message = try? answer(on: exchange) {
            guard case .report(let report) = message else { return (reports, message) }
            reports.append(report)
            if report.suppressesResponse { break }
            send(.status(.success), on: exchange, isLast: report.subscription != nil && !report.hasMore && isReport)
        }
        return (reports, nil)
    }

    /// True while the reports of an active subscription are read.
    private var isReport = false

    /// Confirms the report that the device began, and returns its chunks.
    mutating func subscriptionReport() throws -> [ReportData] {
        guard let first = inbox.first(where: \.isFirst) else { throw LinkError.noAnswer }
        isReport = true
        defer { isReport = false }
        return try reports(on: first.exchange).reports
    }
}

// MARK: Commissioning

extension DeviceLink {
    private static let generalCommissioning: UInt32 = 0x30
    private static let operationalCredentials: UInt32 = 0x3E
    private static let epochKey = [UInt8](repeating: 0x5A, count: 16)

    /// Commissions the device and returns the operational session and the controller's fabric.
    mutating func commission() throws -> (session: SessionContext, fabric: CASEFabric) {
        let pase = try openCommissioningSession()
        try armFailSafe(pase)
        try attest(pase)
        let (issuer, fabric) = try addFabric(pase)
        #expect(issuer.certificate == fabric.root)
        let session = try openOperationalSession(fabric)
        let complete = try respond(Self.generalCommissioning, 4, .structure([]), session)
        #expect(complete[0]?.asUnsigned == 0)
        return (session, fabric)
    }

    mutating func armFailSafe(_ session: SessionContext, seconds: UInt64 = 60) throws {
        let armed = try respond(
            Self.generalCommissioning, 0, .fields((0, .unsigned(seconds)), (1, .unsigned(1))), session)
        #expect(armed[0]?.asUnsigned == 0)
    }

    private mutating func attest(_ session: SessionContext) throws {
        let nonce = random.bytes(32)
        let response = try respond(Self.operationalCredentials, 0, .fields((0, .bytes(nonce))), session)
        let elements = try #require(response[0]?.asBytes)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: try #require(response[1]?.asBytes))
        #expect(attestationKey.publicKey.isValidSignature(signature, for: elements + session.attestationChallenge))
        let decoded = try TLVValue(decoding: elements)
        #expect(decoded[1]?.asBytes == configuration.attestation.declaration)
        #expect(decoded[2]?.asBytes == nonce)
        let certificate = try respond(Self.operationalCredentials, 2, .fields((0, .unsigned(1))), session)
        #expect(certificate[0]?.asBytes == configuration.attestation.dac)
    }

    private mutating func addFabric(_ session: SessionContext) throws -> (CertificateIssuer, CASEFabric) {
        let nonce = random.bytes(32)
        let response = try respond(Self.operationalCredentials, 4, .fields((0, .bytes(nonce))), session)
        let elements = try TLVValue(decoding: try #require(response[0]?.asBytes))
        #expect(elements[2]?.asBytes == nonce)
        let publicKey = try SigningRequest.publicKey(of: try #require(elements[1]?.asBytes))

        let issuer = try CertificateIssuer.root(id: 1, randomness: &random)
        let certificate = try issuer.operational(
            publicKey: publicKey, nodeID: Self.deviceNode, fabricID: Self.fabricID, randomness: &random)
        let root = try invoke(
            0, Self.operationalCredentials, 0x0B, session, .fields((0, .bytes(issuer.certificate.encoded))))
        guard case .status(_, .success, reference: _) = root else {
            throw LinkError.unexpected(.invoked(InvokeResponse(responses: [root])))
        }
        let added = try respond(
            Self.operationalCredentials, 6,
            .fields(
                (0, .bytes(certificate.encoded)), (2, .bytes(Self.epochKey)), (3, .unsigned(Self.controllerNode)),
                (4, .unsigned(0xFFF1))), session)
        #expect(added[0]?.asUnsigned == 0)
        let key = random.signingKey()
        let own = try issuer.operational(
            publicKey: Array(key.publicKey.x963Representation), nodeID: Self.controllerNode,
            fabricID: Self.fabricID, randomness: &random)
        let fabric = try CASEFabric(
            index: 1, root: issuer.certificate, intermediate: nil, operational: own,
            key: Array(key.rawRepresentation), epochKeys: [Self.epochKey])
        return (issuer, fabric)
    }
}
