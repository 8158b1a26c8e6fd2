internal import MatterWire
internal import ProtocolCore

/// The keys of a session (Matter 4.14.1.2, 4.14.2.6.1).
struct SessionKeys: Sendable {
    private let initiatorKey: [UInt8]
    private let responderKey: [UInt8]
    private let challenge: [UInt8]

    /// Derives the keys.
    ///
    /// - Parameters:
    ///   - secret: Ke of PASE, or the shared secret of CASE.
    ///   - info: "SessionKeys", or "SessionResumptionKeys" for a resumed session.
    init(_ secret: [UInt8], salt: [UInt8], info: String = "SessionKeys") {
        let length = CryptographyLengths.key
        let keys = HandshakeCryptography.derive(secret, salt: salt, info: info, count: 3 * length)
        initiatorKey = Array(keys.prefix(length))
        responderKey = Array(keys.dropFirst(length).prefix(length))
        challenge = Array(keys.suffix(length))
    }

    /// The session with these keys.
    func session(
        localID: UInt16, peerID: UInt16, kind: SessionKind, isInitiator: Bool, localNode: UInt64 = 0,
        peerNode: UInt64 = 0, parameters: SessionParameters
    ) -> NewSession {
        NewSession(
            localID: localID, peerID: peerID, kind: kind, isInitiator: isInitiator,
            sendKey: isInitiator ? initiatorKey : responderKey, receiveKey: isInitiator ? responderKey : initiatorKey,
            attestationChallenge: challenge, localNode: localNode, peerNode: peerNode, parameters: parameters)
    }
}

extension SessionParameters {
    /// The revision of the data model that this implementation announces.
    static let dataModelRevision: UInt16 = 17
    /// The revision of the interaction model that this implementation announces.
    static let interactionModelRevision: UInt16 = 11
    /// The version of the specification that this implementation announces.
    static let specificationVersion: UInt32 = 0x0103_0000
    /// The limit of commands per invoke request that this implementation announces.
    static let pathsPerInvoke: UInt16 = 1
    /// The limit of intervals (Matter 4.12.8). It protects the retransmission timers against values of a peer.
    static let intervalLimit: UInt64 = 3_600_000
    /// The limit of the active threshold, which has 16 bits on the wire.
    static let thresholdLimit: UInt64 = 65_535

    /// Decodes session-parameter-struct. Values that are missing have their defaults, and unknown members are ignored.
    init(decoding value: TLVValue?) throws(MatterError) {
        self = .standard
        guard let value else { return }
        guard case .structure = value else { throw .invalid("session parameters: not a structure") }
        func milliseconds(_ tag: UInt8, _ standard: Duration, _ limit: UInt64) throws(MatterError) -> Duration {
            guard let member = value[tag] else { return standard }
            guard let number = member.asUnsigned else { throw .invalid("session parameters: \(tag) is not a number") }
            return .milliseconds(Int64(min(number, limit)))
        }
        idleInterval = try milliseconds(1, idleInterval, Self.intervalLimit)
        activeInterval = try milliseconds(2, activeInterval, Self.intervalLimit)
        activeThreshold = try milliseconds(3, activeThreshold, Self.thresholdLimit)
    }

    /// The parameters as session-parameter-struct.
    var encoded: TLVValue {
        func milliseconds(_ duration: Duration, _ limit: UInt64) -> TLVValue {
            .unsigned(min(UInt64(max(0, duration.wholeNanoseconds / 1_000_000)), limit))
        }
        return .fields(
            (1, milliseconds(idleInterval, Self.intervalLimit)), (2, milliseconds(activeInterval, Self.intervalLimit)),
            (3, milliseconds(activeThreshold, Self.thresholdLimit)), (4, .unsigned(UInt64(Self.dataModelRevision))),
            (5, .unsigned(UInt64(Self.interactionModelRevision))), (6, .unsigned(UInt64(Self.specificationVersion))),
            (7, .unsigned(UInt64(Self.pathsPerInvoke))))
    }
}
