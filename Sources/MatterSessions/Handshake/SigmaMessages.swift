internal import MatterWire

/// The messages of CASE (Matter 4.14.2.3).
enum SigmaMessages {
    static let randomLength = 32
    static let resumptionIDLength = 16
    /// The limits of an encrypted member in bytes. It has two certificates, a signature and the tag.
    static let encryptedLengths = CryptographyLengths.tag...1100
    /// The limits of a certificate in bytes (Matter 6.1.3).
    static let certificateLengths = 1...400

    struct Sigma1: Sendable {
        var random: [UInt8]
        var sessionID: UInt16
        var destination: [UInt8]
        var ephemeralKey: [UInt8]
        var parameters: SessionParameters
        var resumption: (id: [UInt8], code: [UInt8])?

        var encoded: [UInt8] {
            TLVValue.fields(
                (1, .bytes(random)), (2, .unsigned(UInt64(sessionID))), (3, .bytes(destination)),
                (4, .bytes(ephemeralKey)), (5, parameters.encoded), (6, resumption.map { .bytes($0.id) }),
                (7, resumption.map { .bytes($0.code) })
            ).encoded
        }
    }

    struct Sigma2: Sendable {
        var random: [UInt8]
        var sessionID: UInt16
        var ephemeralKey: [UInt8]
        var encrypted: [UInt8]
        var parameters: SessionParameters

        var encoded: [UInt8] {
            TLVValue.fields(
                (1, .bytes(random)), (2, .unsigned(UInt64(sessionID))), (3, .bytes(ephemeralKey)),
                (4, .bytes(encrypted)), (5, parameters.encoded)
            ).encoded
        }
    }

    struct Sigma2Resume: Sendable {
        var id: [UInt8]
        var code: [UInt8]
        var sessionID: UInt16
        var parameters: SessionParameters

        var encoded: [UInt8] {
            TLVValue.fields(
                (1, .bytes(id)), (2, .bytes(code)), (3, .unsigned(UInt64(sessionID))), (4, parameters.encoded)
            ).encoded
        }
    }

    static func sigma3(encrypted: [UInt8]) -> [UInt8] { TLVValue.fields((1, .bytes(encrypted))).encoded }

    /// The certificates and the signature of one side (TBEData2, TBEData3).
    struct Credentials: Sendable {
        var operational: [UInt8]
        var intermediate: [UInt8]?
        var signature: [UInt8]
        /// The responder's identifier for a resumption. The initiator sends none.
        var resumptionID: [UInt8]?

        var encoded: [UInt8] {
            TLVValue.fields(
                (1, .bytes(operational)), (2, intermediate.map { .bytes($0) }), (3, .bytes(signature)),
                (4, resumptionID.map { .bytes($0) })
            ).encoded
        }
    }

    /// The bytes that a side signs (TBSData2, TBSData3).
    static func signed(
        operational: [UInt8], intermediate: [UInt8]?, ephemeralKey: [UInt8], peerEphemeralKey: [UInt8]
    ) -> [UInt8] {
        TLVValue.fields(
            (1, .bytes(operational)), (2, intermediate.map { .bytes($0) }), (3, .bytes(ephemeralKey)),
            (4, .bytes(peerEphemeralKey))
        ).encoded
    }
}

extension SigmaMessages.Sigma1 {
    init(decoding payload: [UInt8]) throws(MatterError) {
        let fields = try HandshakeFields(payload, "Sigma1")
        random = try fields.bytes(1, count: SigmaMessages.randomLength)
        sessionID = try fields.sessionID(2)
        destination = try fields.bytes(3, count: CryptographyLengths.hash)
        ephemeralKey = try fields.bytes(4, count: CryptographyLengths.point)
        parameters = try fields.parameters(5)
        let id = try fields.optionalBytes(6, count: SigmaMessages.resumptionIDLength)
        let code = try fields.optionalBytes(7, count: CryptographyLengths.tag)
        // Matter 4.14.2.3: both members are present, or neither.
        guard (id == nil) == (code == nil) else { throw .invalid("Sigma1: a member of the resumption is missing") }
        resumption = if let id, let code { (id, code) } else { nil }
    }
}

extension SigmaMessages.Sigma2 {
    init(decoding payload: [UInt8]) throws(MatterError) {
        let fields = try HandshakeFields(payload, "Sigma2")
        random = try fields.bytes(1, count: SigmaMessages.randomLength)
        sessionID = try fields.sessionID(2)
        ephemeralKey = try fields.bytes(3, count: CryptographyLengths.point)
        encrypted = try fields.bytes(4, in: SigmaMessages.encryptedLengths)
        parameters = try fields.parameters(5)
    }
}

extension SigmaMessages.Sigma2Resume {
    init(decoding payload: [UInt8]) throws(MatterError) {
        let fields = try HandshakeFields(payload, "Sigma2Resume")
        id = try fields.bytes(1, count: SigmaMessages.resumptionIDLength)
        code = try fields.bytes(2, count: CryptographyLengths.tag)
        sessionID = try fields.sessionID(3)
        parameters = try fields.parameters(4)
    }
}

extension SigmaMessages.Credentials {
    /// Decodes decrypted credentials.
    init(decoding bytes: [UInt8], hasResumption: Bool) throws(MatterError) {
        let fields = try HandshakeFields(bytes, "CASE credentials")
        operational = try fields.bytes(1, in: SigmaMessages.certificateLengths)
        intermediate = try fields.optionalBytes(2, in: SigmaMessages.certificateLengths)
        signature = try fields.bytes(3, count: CryptographyLengths.signature)
        if hasResumption { resumptionID = try fields.bytes(4, count: SigmaMessages.resumptionIDLength) }
    }
}
