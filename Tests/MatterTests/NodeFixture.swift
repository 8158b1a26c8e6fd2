import Crypto
import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@testable import Matter

/// A node with a commissioner and a clock.
struct NodeFixture {
    static let passcodeSession = Accessor(
        kind: .commissioning, isTimed: true, session: .secure(1), attestationChallenge: Array(repeating: 7, count: 16))
    static let administrator: UInt64 = 0x1122_3344

    var node: MatterNode
    var now = Instant(nanoseconds: 100_000_000_000)
    var randomness = MatterRandomness(seed: Array(repeating: 3, count: 32))
    /// All effects since the creation.
    private(set) var effects: [NodeEffect] = []

    static func configuration(
        _ features: NodeFeatures = NodeFeatures(dims: true, meters: true, hasButton: true),
        startReason: MatterStartReason = .powerOn
    ) throws -> MatterDevice.Configuration {
        var randomness = MatterRandomness(seed: Array(repeating: 9, count: 32))
        return MatterDevice.Configuration(
            verifier: try verifier(), discriminator: 3840, vendorName: "Vendor", productName: "Plug",
            serialNumber: "1", firmware: "1.0", features: features,
            attestation: AttestationCredentials(
                dac: [1], pai: [2], declaration: [3], key: Array(randomness.signingKey().rawRepresentation)),
            uniqueID: "unique", hardwareAddress: [2, 0, 0, 0, 0, 1], interfaceName: "eth0", name: "Lamp",
            startReason: startReason)
    }

    static func verifier() throws -> SpakeVerifier {
        var randomness = MatterRandomness(seed: Array(repeating: 5, count: 32))
        return try SpakeVerifier(
            w0: randomness.bytes(32).map { $0 & 0x7F }, l: Array(randomness.signingKey().publicKey.x963Representation),
            salt: Array(repeating: 1, count: 16), iterations: 1000)
    }

    init(
        _ features: NodeFeatures = NodeFeatures(dims: true, meters: true, hasButton: true),
        records: MatterRecords = MatterRecords(), startReason: MatterStartReason = .powerOn, seed: UInt8 = 1
    ) throws {
        node = MatterNode(
            try Self.configuration(features, startReason: startReason), records: records,
            seed: Array(repeating: seed, count: 32))
        node.expire(now: now)
        takeEffects()
    }

    @discardableResult mutating func takeEffects() -> [NodeEffect] {
        let taken = node.takeEffects()
        effects += taken
        return taken
    }

    /// The records that were stored last.
    var stored: MatterRecords? {
        effects.reversed().lazy.compactMap { if case .store(let records) = $0 { records } else { nil } }.first
    }

    /// Advances the clock and performs everything that becomes due on the way.
    mutating func wait(_ length: Duration) {
        let end = now + length
        while let deadline = node.nextDeadline, deadline <= end {
            now = max(now, deadline)
            node.expire(now: now)
        }
        now = end
        takeEffects()
    }

    // MARK: Interactions

    mutating func invoke(
        _ cluster: ClusterID, _ command: some RawRepresentable<UInt32>, on endpoint: UInt16 = DataModel.root,
        _ fields: TLVValue = .fields(), as accessor: Accessor
    ) -> CommandReply {
        let reply = node.invoke(
            ConcretePath(endpoint, cluster.rawValue, command.rawValue), fields, for: accessor, now: now)
        takeEffects()
        return reply
    }

    /// Invokes a command, and lets the plug perform the commands that result.
    mutating func perform(
        _ cluster: ClusterID, _ command: some RawRepresentable<UInt32>, _ fields: TLVValue = .fields(),
        as accessor: Accessor
    ) -> (commands: [NodeCommand], reply: CommandReply) {
        let count = effects.count
        var reply = invoke(cluster, command, on: DataModel.load, fields, as: accessor)
        var commands: [NodeCommand] = []
        for case .ask(let ticket, let asked, _) in effects[count...] {
            commands.append(asked)
            let answer = node.answered(ticket, .success)
            if reply == .pending(ticket) { reply = answer }
        }
        return (commands, reply)
    }

    func read(
        _ cluster: ClusterID, _ attribute: some RawRepresentable<UInt32>, on endpoint: UInt16 = DataModel.root,
        as accessor: Accessor = passcodeSession, isFabricFiltered: Bool = true
    ) throws -> TLVValue {
        try node.read(
            ConcretePath(endpoint, cluster.rawValue, attribute.rawValue), for: accessor,
            isFabricFiltered: isFabricFiltered, now: now)
    }

    /// Writes an attribute. Returns the status.
    mutating func write(
        _ cluster: ClusterID, _ attribute: some RawRepresentable<UInt32>, on endpoint: UInt16 = DataModel.root,
        _ value: TLVValue, appends: Bool = false, as accessor: Accessor
    ) -> InteractionStatusCode {
        defer { takeEffects() }
        do throws(InteractionStatus) {
            try node.write(
                ConcretePath(endpoint, cluster.rawValue, attribute.rawValue), value, appends: appends, for: accessor,
                now: now)
            return .success
        } catch {
            return error.code
        }
    }

    // MARK: Commissioning

    static func session(fabric: UInt8, node: UInt64 = administrator, tags: [UInt32] = []) -> Accessor {
        Accessor(
            kind: .operational(OperationalPeer(fabric: fabric, node: node, tags: tags)), isTimed: true,
            session: .secure(UInt16(fabric) + 1), attestationChallenge: Array(repeating: 8, count: 16))
    }

    static func context(of accessor: Accessor) -> SessionContext {
        SessionContext(
            id: accessor.session ?? .unsecured(0), kind: accessor.sessionKind,
            peer: MatterPeer(address: [127, 0, 0, 1], scope: 0, port: 5540), attestationChallenge: [])
    }

    mutating func startCommissioning() {
        node.openWindow(.seconds(600), now: now)
        node.sessionEstablished(.commissioning)
        takeEffects()
    }

    /// Requests a signing request and returns the node's public key.
    mutating func requestSigning(isForUpdate: Bool = false, as accessor: Accessor = passcodeSession) throws -> [UInt8] {
        let reply = invoke(
            .operationalCredentials, OperationalCredentials.Command.csrRequest,
            .fields((0, .bytes(Array(repeating: 1, count: 32))), (1, .boolean(isForUpdate))), as: accessor)
        guard case .response(_, let fields) = reply else { throw ReplyError(reply: reply) }
        let elements = try #require(fields[0]?.asBytes)
        return try SigningRequest.publicKey(of: try #require(try TLVValue(decoding: elements)[1]?.asBytes))
    }

    mutating func addRoot(_ issuer: CertificateIssuer) -> CommandReply {
        invoke(
            .operationalCredentials, OperationalCredentials.Command.addTrustedRootCertificate,
            .fields((0, .bytes(issuer.certificate.encoded))), as: Self.passcodeSession)
    }

    mutating func addNOC(
        _ issuer: CertificateIssuer, publicKey: [UInt8], fabricID: UInt64 = 0xFAB1, nodeID: UInt64 = 0xD00D,
        administrator: UInt64 = administrator
    ) throws -> CommandReply {
        let certificate = try issuer.operational(
            publicKey: publicKey, nodeID: nodeID, fabricID: fabricID, randomness: &randomness)
        return invoke(
            .operationalCredentials, OperationalCredentials.Command.addNOC,
            .fields(
                (0, .bytes(certificate.encoded)), (2, .bytes(Array(repeating: 4, count: 16))),
                (3, .unsigned(administrator)), (4, .unsigned(0xFFF1))), as: Self.passcodeSession)
    }

    mutating func root(_ id: UInt64 = 1) throws -> CertificateIssuer {
        try CertificateIssuer.root(id: id, randomness: &randomness)
    }

    /// Commissions the node completely. Returns the session of the administrator.
    mutating func commission(root id: UInt64 = 1) throws -> Accessor {
        let issuer = try root(id)
        startCommissioning()
        let key = try requestSigning()
        #expect(addRoot(issuer) == .status(.success))
        let reply = try addNOC(issuer, publicKey: key)
        guard case .response(_, let fields) = reply, let index = fields[1]?.unsigned(UInt8.self) else {
            throw ReplyError(reply: reply)
        }
        let session = Self.session(fabric: index)
        node.sessionEstablished(try #require(session.sessionKind))
        #expect(complete(as: session) == 0)
        node.sessionEnded(Self.context(of: Self.passcodeSession))
        takeEffects()
        return session
    }

    mutating func complete(as accessor: Accessor) -> UInt64? {
        code(invoke(.generalCommissioning, GeneralCommissioning.Command.commissioningComplete, as: accessor))
    }

    mutating func armFailSafe(_ seconds: UInt16, as accessor: Accessor) -> UInt64? {
        code(
            invoke(
                .generalCommissioning, GeneralCommissioning.Command.armFailSafe,
                .fields((0, .number(seconds)), (1, .unsigned(5))), as: accessor))
    }

    /// The first field of a response: an error code.
    func code(_ reply: CommandReply) -> UInt64? {
        if case .response(_, let fields) = reply { fields[0]?.asUnsigned } else { nil }
    }
}

/// An unexpected reply of the node.
struct ReplyError: Error { let reply: CommandReply }
