internal import MatterWire

/// The messages of PASE (Matter 4.14.1.2).
enum PASEMessages {
    static let randomLength = 32
    /// The identifier of the passcode on the label or in the open commissioning window. Matter has only this one.
    static let passcodeID: UInt16 = 0
    private static let contextPrefix = Array("CHIP PAKE V1 Commissioning".utf8)

    /// The context of SPAKE2+: a hash over the exact bytes of the first two messages (Matter 3.10.3).
    static func context(request: [UInt8], response: [UInt8]) -> [UInt8] {
        HandshakeCryptography.hash(contextPrefix, request, response)
    }

    struct Request: Sendable {
        var random: [UInt8]
        var sessionID: UInt16
        var passcodeID: UInt16 = PASEMessages.passcodeID
        var hasStretching = false
        var parameters: SessionParameters

        var encoded: [UInt8] {
            TLVValue.fields(
                (1, .bytes(random)), (2, .unsigned(UInt64(sessionID))), (3, .unsigned(UInt64(passcodeID))),
                (4, .boolean(hasStretching)), (5, parameters.encoded)
            ).encoded
        }
    }

    struct Response: Sendable {
        var initiatorRandom: [UInt8]
        var random: [UInt8]
        var sessionID: UInt16
        /// The salt and the iterations; nil if the initiator has them.
        var stretching: (salt: [UInt8], iterations: UInt32)?
        var parameters: SessionParameters

        var encoded: [UInt8] {
            TLVValue.fields(
                (1, .bytes(initiatorRandom)), (2, .bytes(random)), (3, .unsigned(UInt64(sessionID))),
                (4, stretching.map { .fields((1, .unsigned(UInt64($0.iterations))), (2, .bytes($0.salt))) }),
                (5, parameters.encoded)
            ).encoded
        }
    }

    static func pake1(share: [UInt8]) -> [UInt8] { TLVValue.fields((1, .bytes(share))).encoded }

    static func pake2(share: [UInt8], confirmation: [UInt8]) -> [UInt8] {
        TLVValue.fields((1, .bytes(share)), (2, .bytes(confirmation))).encoded
    }

    static func pake3(confirmation: [UInt8]) -> [UInt8] { TLVValue.fields((1, .bytes(confirmation))).encoded }
}

extension PASEMessages.Request {
    init(decoding payload: [UInt8]) throws(MatterError) {
        let fields = try HandshakeFields(payload, "PBKDFParamRequest")
        random = try fields.bytes(1, count: PASEMessages.randomLength)
        sessionID = try fields.sessionID(2)
        passcodeID = try fields.number(3, UInt16.self)
        hasStretching = try fields.flag(4)
        parameters = try fields.parameters(5)
        guard passcodeID == PASEMessages.passcodeID else {
            throw .invalid("PBKDFParamRequest: passcode \(passcodeID) does not exist")
        }
    }
}

extension PASEMessages.Response {
    init(decoding payload: [UInt8]) throws(MatterError) {
        let fields = try HandshakeFields(payload, "PBKDFParamResponse")
        initiatorRandom = try fields.bytes(1, count: PASEMessages.randomLength)
        random = try fields.bytes(2, count: PASEMessages.randomLength)
        sessionID = try fields.sessionID(3)
        parameters = try fields.parameters(5)
        stretching = nil
        guard let inner = try fields.structure(4) else { return }
        let iterations = try inner.number(1, UInt32.self)
        let salt = try inner.bytes(2, in: SpakeVerifier.saltLengths)
        try SpakeVerifier.check(salt: salt, iterations: iterations)
        stretching = (salt, iterations)
    }
}
