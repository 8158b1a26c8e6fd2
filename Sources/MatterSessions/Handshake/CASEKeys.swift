internal import MatterWire

/// The keys and nonces of CASE (Matter 4.14.2.6).
enum CASEKeys {
    static let sigma2Nonce = Array("NCASE_Sigma2N".utf8)
    static let sigma3Nonce = Array("NCASE_Sigma3N".utf8)
    static let resume1Nonce = Array("NCASE_SigmaS1".utf8)
    static let resume2Nonce = Array("NCASE_SigmaS2".utf8)

    /// S2K, which encrypts the responder's credentials.
    static func sigma2(
        _ secret: [UInt8], protectionKey: [UInt8], random: [UInt8], ephemeralKey: [UInt8], sigma1: [UInt8]
    ) -> [UInt8] {
        HandshakeCryptography.derive(
            secret, salt: protectionKey + random + ephemeralKey + HandshakeCryptography.hash(sigma1), info: "Sigma2",
            count: CryptographyLengths.key)
    }

    /// S3K, which encrypts the initiator's credentials.
    static func sigma3(_ secret: [UInt8], protectionKey: [UInt8], sigma1: [UInt8], sigma2: [UInt8]) -> [UInt8] {
        HandshakeCryptography.derive(
            secret, salt: protectionKey + HandshakeCryptography.hash(sigma1, sigma2), info: "Sigma3",
            count: CryptographyLengths.key)
    }

    /// The keys of the session, bound to all three messages.
    static func session(
        _ secret: [UInt8], protectionKey: [UInt8], sigma1: [UInt8], sigma2: [UInt8], sigma3: [UInt8]
    ) -> SessionKeys {
        SessionKeys(secret, salt: protectionKey + HandshakeCryptography.hash(sigma1, sigma2, sigma3))
    }

    /// The keys of a resumed session. The identifier is the one that the initiator sent.
    static func resumed(_ secret: [UInt8], random: [UInt8], id: [UInt8]) -> SessionKeys {
        SessionKeys(secret, salt: random + id, info: "SessionResumptionKeys")
    }

    /// The message integrity code with which the initiator proves that it has the secret of a session.
    static func resume1Code(
        _ secret: [UInt8], random: [UInt8], id: [UInt8], _ cryptography: any MatterCryptography
    ) throws(MatterError) -> [UInt8] {
        try code(secret, random: random, id: id, info: "Sigma1_Resume", nonce: resume1Nonce, cryptography)
    }

    /// The message integrity code with which the responder accepts a resumption. The identifier is the new one.
    static func resume2Code(
        _ secret: [UInt8], random: [UInt8], id: [UInt8], _ cryptography: any MatterCryptography
    ) throws(MatterError) -> [UInt8] {
        try code(secret, random: random, id: id, info: "Sigma2_Resume", nonce: resume2Nonce, cryptography)
    }

    private static func code(
        _ secret: [UInt8], random: [UInt8], id: [UInt8], info: String, nonce: [UInt8],
        _ cryptography: any MatterCryptography
    ) throws(MatterError) -> [UInt8] {
        let key = HandshakeCryptography.derive(secret, salt: random + id, info: info, count: CryptographyLengths.key)
        return try cryptography.seal([], key: key, nonce: nonce, authenticating: [])
    }
}

extension CASEFabric {
    /// Signs both ephemeral keys with the operational key.
    func credentials(
        ephemeralKey: [UInt8], peerEphemeralKey: [UInt8], resumptionID: [UInt8]? = nil
    ) throws(MatterError) -> SigmaMessages.Credentials {
        let signed = SigmaMessages.signed(
            operational: operationalCertificate, intermediate: intermediate, ephemeralKey: ephemeralKey,
            peerEphemeralKey: peerEphemeralKey)
        return SigmaMessages.Credentials(
            operational: operationalCertificate, intermediate: intermediate,
            signature: try HandshakeCryptography.sign(signed, with: key), resumptionID: resumptionID)
    }

    /// Verifies the peer's certificates and its signature of both ephemeral keys.
    ///
    /// - Parameters:
    ///   - ephemeralKey: the peer's ephemeral key.
    ///   - ownEphemeralKey: this node's ephemeral key.
    func verify(
        _ credentials: SigmaMessages.Credentials, ephemeralKey: [UInt8], ownEphemeralKey: [UInt8]
    ) throws(MatterError) -> OperationalPeer {
        let certificate = try MatterCertificate(decoding: credentials.operational)
        var between: MatterCertificate?
        if let intermediate = credentials.intermediate { between = try MatterCertificate(decoding: intermediate) }
        let ids = try CertificateChain.verify(operational: certificate, intermediate: between, root: root)
        guard ids.fabricID == fabricID else { throw .notAuthentic("CASE: the peer belongs to a different fabric") }
        let signed = SigmaMessages.signed(
            operational: credentials.operational, intermediate: credentials.intermediate, ephemeralKey: ephemeralKey,
            peerEphemeralKey: ownEphemeralKey)
        guard HandshakeCryptography.isSigned(signed, by: certificate.publicKey, credentials.signature) else {
            throw .notAuthentic("CASE: the signature of the peer is not valid")
        }
        return OperationalPeer(fabric: index, node: ids.nodeID, tags: ids.tags)
    }
}
