import Crypto
import MatterSessions
import MatterWire
import Testing

@Suite struct SigningRequestTests {
    private let key: P256.Signing.PrivateKey

    init() {
        var randomness = HandshakeBytes.randomness(1)
        key = randomness.signingKey()
    }

    @Test("A request has the key of the node and a valid signature") func requestsAreRead() throws {
        let request = try SigningRequest.encode(key: key)
        #expect(try SigningRequest.publicKey(of: request) == Array(key.publicKey.x963Representation))
        // Version 0 and the subject O=CSR.
        #expect(request[3...].prefix(21).suffix(18) == HandshakeBytes.hex("020100300e310c300a060355040a0c034353")[...])
    }

    @Test("A request that a different library made is read") func foreignRequestsAreRead() throws {
        let request = HandshakeBytes.hex(
            """
            3081d8307f020100301d310d300b06035504030c046e6f6465310c300a060355040a0c034353523059301306072a8648ce3d02\
            0106082a8648ce3d03010703420004f9ebe464147cc102d92324d099d927c1a50e42d57a08a116ffec0a29819d8c6570baf7d1\
            2888902a6a0c1d67add103123c859ab69bf8e9431c9384930d4b7eeea000300a06082a8648ce3d040302034900304602210\
            0f4ba7042195bcb9b265c45eeabb9f9dcd2426fec80e12ac66f56dd1728add6d9022100ee873fe39209e5b8a63c2e2759dfac\
            7c76ab0062ba5998f42edff24df1a1d547
            """)
        #expect(
            try SigningRequest.publicKey(of: request)
                == HandshakeBytes.hex(
                    """
                    04f9ebe464147cc102d92324d099d927c1a50e42d57a08a116ffec0a29819d8c6570baf7d12888902a6a0c1d67add10312\
                    3c859ab69bf8e9431c9384930d4b7eee
                    """))
    }

    @Test("A change of any byte of a request, or a different length, is rejected")
    func changedRequestsAreRejected() throws {
        let request = try SigningRequest.encode(key: key)
        for index in request.indices {
            var changed = request
            changed[index] ^= 1 << (index % 8)
            #expect(throws: MatterError.self, "byte \(index)") { try SigningRequest.publicKey(of: changed) }
            #expect(throws: MatterError.self) { try SigningRequest.publicKey(of: Array(request.prefix(index))) }
        }
        #expect(throws: MatterError.self) { try SigningRequest.publicKey(of: request + [0]) }
        #expect(throws: MatterError.self) {
            try SigningRequest.publicKey(of: [UInt8](repeating: 0x30, count: SigningRequest.limit + 1))
        }
    }
}

@Suite struct AttestationCheckTests {
    /// Files of a product: certificates of a test authority, and the key of the device.
    private struct Files {
        var dac: [UInt8]
        var pai: [UInt8]
        var key: [UInt8]
    }

    private static let declaration = DER.sequence(DER.integer(1))

    private static func name(vendor: UInt16?, product: UInt16?) -> [UInt8] {
        func attribute(_ last: UInt8, _ number: UInt16) -> [UInt8] {
            let digits = String(number, radix: 16, uppercase: true)
            let text = String(repeating: "0", count: 4 - digits.count) + digits
            let identifier: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xA2, 0x7C, 0x02, last]
            return DER.set(DER.sequence(DER.identifier(identifier), DER.text(text)))
        }
        return DER.sequence(
            DER.set(DER.sequence(DER.identifier([0x55, 0x04, 0x03]), DER.text("Test"))),
            vendor.map { attribute(1, $0) } ?? [], product.map { attribute(2, $0) } ?? [])
    }

    private static func certificate(
        _ subject: [UInt8], _ key: P256.Signing.PrivateKey, issuer: [UInt8], _ signer: P256.Signing.PrivateKey
    ) throws -> [UInt8] {
        let algorithm = DER.sequence(DER.identifier(DER.Identifier.ecdsaWithSHA256))
        let time = DER.value(0x17, Array("220101000000Z".utf8))
        let body = DER.sequence(
            DER.value(0xA0, DER.integer(2)), DER.integer(5), algorithm, issuer, DER.sequence(time, time), subject,
            DER.publicKey(Array(key.publicKey.x963Representation)))
        return DER.sequence(
            body, algorithm, DER.bitString(Array(try signer.signature(for: body).derRepresentation)))
    }

    private static func files(
        seed: UInt8 = 1, vendor: UInt16? = 0xFFF1, product: UInt16? = 0x8001
    ) throws -> Files {
        var randomness = HandshakeBytes.randomness(seed)
        let (authority, intermediate, device) = (
            randomness.signingKey(), randomness.signingKey(), randomness.signingKey()
        )
        let name = name(vendor: vendor, product: nil)
        return Files(
            dac: try certificate(Self.name(vendor: vendor, product: product), device, issuer: name, intermediate),
            pai: try certificate(name, intermediate, issuer: Self.name(vendor: nil, product: nil), authority),
            key: Array(device.rawRepresentation))
    }

    private func verify(
        _ files: Files, declaration: [UInt8] = declaration, vendor: UInt16 = 0xFFF1, product: UInt16 = 0x8001
    ) throws {
        try AttestationCheck.verify(
            dac: files.dac, pai: files.pai, declaration: declaration, key: files.key, vendor: vendor,
            product: product)
    }

    @Test("Files that belong together are accepted") func matchingFilesAreAccepted() throws {
        try verify(try Self.files())
        try verify(try Self.files(vendor: nil, product: nil), vendor: 1, product: 2)
        let device = try AttestationCertificate(decoding: try Self.files().dac)
        #expect((device.vendor, device.product) == (0xFFF1, 0x8001))
    }

    @Test("Files of different products or devices are rejected with the reason")
    func exchangedFilesAreRejected() throws {
        let (files, other) = (try Self.files(), try Self.files(seed: 2))
        var mixed = files
        mixed.key = other.key
        #expect(
            throws: MatterError.notAuthentic(
                "the attestation key is not the key of the device attestation certificate")
        ) { try verify(mixed) }
        mixed = files
        mixed.pai = other.pai
        #expect(
            throws: MatterError.notAuthentic(
                "the product attestation certificate did not sign the device attestation certificate")
        ) { try verify(mixed) }
        #expect(throws: MatterError.invalid("attestation certificate: it is for vendor 65521, not 65522")) {
            try verify(files, vendor: 0xFFF2)
        }
        #expect(throws: MatterError.invalid("attestation certificate: it is for product 32769, not 32770")) {
            try verify(files, product: 0x8002)
        }
        mixed = files
        (mixed.dac, mixed.pai) = (files.pai, files.dac)
        #expect(throws: MatterError.self) { try verify(mixed) }
        mixed.key = []
        #expect(throws: MatterError.self) { try verify(mixed) }
        #expect(throws: MatterError.self) { try verify(files, declaration: []) }
        #expect(throws: MatterError.self) { try verify(files, declaration: [UInt8](repeating: 0x30, count: 601)) }
    }

    @Test("A change of any byte of the device's certificate is rejected") func changedCertificatesAreRejected() throws {
        let files = try Self.files()
        for index in files.dac.indices {
            var changed = files
            changed.dac[index] ^= 1 << (index % 8)
            #expect(throws: MatterError.self, "byte \(index)") { try verify(changed) }
            changed.dac = Array(files.dac.prefix(index))
            #expect(throws: MatterError.self) { try verify(changed) }
        }
    }
}

@Suite struct MatterRandomnessTests {
    @Test("Equal seeds give equal secrets, and a split generator gives different ones") func seedsDecide() {
        var (first, second) = (HandshakeBytes.randomness(1), HandshakeBytes.randomness(1))
        var third = HandshakeBytes.randomness(2)
        #expect(first.bytes(100) == second.bytes(100))
        #expect(first.signingKey().rawRepresentation == second.signingKey().rawRepresentation)
        #expect(first.integer(UInt16.self) == second.integer(UInt16.self))
        var (split, rest) = (first.split(), first)
        let bytes = split.bytes(32)
        #expect(bytes != rest.bytes(32))
        #expect(bytes != third.bytes(32))
        #expect(Set((0..<50).map { _ in third.integer(UInt64.self) }).count == 50)
        #expect(third.bytes(0).isEmpty)
        #expect("\(first)" == "MatterRandomness")
    }
}
