import HomeKit
import LargeNumbers
import Testing

@Suite struct RemotePasswordTests {
    private let numbers: GMPArithmetic

    init() throws { numbers = try GMPArithmetic() }

    private func verifier() throws -> SetupVerifier {
        try SetupVerifier(user: "alice", password: "password123", salt: SetupVector.salt, numbers)
    }

    @Test("SRP matches the test vector of the specification") func agreesWithTheSpecification() throws {
        let verifier = try verifier()
        #expect(verifier.verifier == SetupVector.verifier)
        let accessory = try SecureRemotePassword.Accessory(verifier, secret: SetupVector.accessorySecret, numbers)
        #expect(accessory.publicKey == SetupVector.accessoryKey)
        #expect(
            SecureRemotePassword.scrambling(SetupVector.controllerKey, accessory.publicKey) == SetupVector.scrambling)
        let premaster = try accessory.premasterSecret(SetupVector.controllerKey, numbers)
        #expect(premaster == SetupVector.premasterSecret)
        #expect(SecureRemotePassword.sessionKey(SetupVector.premasterSecret) == SetupVector.sessionKey)
        let proven = try accessory.verify(
            SetupVector.controllerKey, proof: SetupVector.controllerProof, user: "alice", numbers)
        #expect(proven?.sessionKey == SetupVector.sessionKey)
        #expect(proven?.proof == SetupVector.accessoryProof)
    }

    /// aiohomekit computed both proofs for a controller whose secret number is 1000. The controller's public key 5^1000
    /// has 291 bytes, and aiohomekit pads it to 384 bytes before it hashes it.
    @Test("A proof over numbers with leading zeros is accepted with and without the zeros")
    func leadingZerosMayBeHashedOrNot() throws {
        let accessory = try SecureRemotePassword.Accessory(
            try verifier(), secret: SetupVector.accessorySecret, numbers)
        let key = try numbers.power([5], [0x03, 0xE8], modulo: SecureRemotePassword.modulus, isSecret: false)
        #expect(key.prefix(93).allSatisfy { $0 == 0 })
        let padded = SetupVector.hex(
            """
            0CA7408C2DBBA38B112182C4D679C83FB0F64D4A9AF7C1EB64CDD96D432CE6D2\
            DC0A36A3533FE74A95EC121C0C25DA784AB8DCF6124D0C53C2D28691F5DC37D8
            """)
        let answer = SetupVector.hex(
            """
            CC8A6281964EE96062D45C968474F607C2942980E90205C40DBC0D8B19D71F03\
            FFEBF00DCB0FCCF0A1B885EF2A57348D01F8FC44302C5BE2B10AF48610566622
            """)
        #expect(try accessory.verify(key, proof: padded, user: "alice", numbers)?.proof == answer)

        let premaster = try #require(try accessory.premasterSecret(key, numbers))
        let sessionKey = SecureRemotePassword.sessionKey(premaster, .stripped)
        let stripped = SecureRemotePassword.controllerProof(
            user: "alice", salt: SetupVector.salt, controllerKey: key, accessoryKey: accessory.publicKey,
            sessionKey: sessionKey, .stripped)
        #expect(stripped != padded)
        #expect(try accessory.verify(key, proof: stripped, user: "alice", numbers)?.sessionKey == sessionKey)
    }

    @Test("A public key that is zero modulo N, or too long, is rejected")
    func aKeyThatMakesTheSecretKnownIsRefused() throws {
        let accessory = try SecureRemotePassword.Accessory(
            try verifier(), secret: SetupVector.accessorySecret, numbers)
        for key in [[], [0], Array(repeating: 0, count: 384), SecureRemotePassword.modulus] {
            #expect(try accessory.premasterSecret(key, numbers) == nil)
        }
        #expect(try accessory.premasterSecret(Array(repeating: 1, count: 385), numbers) == nil)
    }

    @Test("A modified or empty proof is rejected") func aChangedProofIsRefused() throws {
        let accessory = try SecureRemotePassword.Accessory(
            try verifier(), secret: SetupVector.accessorySecret, numbers)
        var proof = SetupVector.controllerProof
        proof[63] ^= 1
        #expect(try accessory.verify(SetupVector.controllerKey, proof: proof, user: "alice", numbers) == nil)
        #expect(try accessory.verify(SetupVector.controllerKey, proof: [], user: "alice", numbers) == nil)
    }
}

@Suite struct TLV8Tests {
    @Test(
        "Values of any length are unchanged after TLV8 encoding and decoding",
        arguments: [0, 1, 254, 255, 256, 509, 510, 511, 4096])
    func valuesOfAnyLengthComeBack(_ count: Int) throws {
        let value = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let items = TLV8([TLV8.Item(6, [1]), TLV8.Item(5, value), TLV8.Item(1, [9])])
        #expect(try TLV8(decoding: items.encoded) == items)
        #expect(items.encoded.count == 3 + 3 + count + 2 * max(1, (count + 254) / 255))
    }

    @Test("Two adjacent items of one type without a separator are rejected")
    func neighboursOfOneTypeAreRefused() throws {
        #expect(throws: HomeKitError.noSeparator(type: 1)) { try TLV8(decoding: [1, 1, 7, 1, 1, 8]) }
        // The bytes are a full fragment, an empty fragment that ends the value, and a second item of the same type.
        let full = [UInt8(1), 255] + Array(repeating: 0, count: 255)
        #expect(throws: HomeKitError.noSeparator(type: 1)) { try TLV8(decoding: full + [1, 0, 1, 1, 8]) }
        #expect(try TLV8(decoding: full + [1, 0, 255, 0]).items.map(\.value.count) == [255, 0])
        #expect(try TLV8(decoding: [1, 1, 7, 255, 0, 1, 1, 8])[255] == [])
    }

    @Test("Damaged items, too long values and too many items are errors") func damagedItemsAreErrors() {
        #expect(throws: HomeKitError.noLength(type: 6)) { try TLV8(decoding: [6]) }
        #expect(throws: HomeKitError.fragmentTooShort(type: 6, length: 2, available: 1)) {
            try TLV8(decoding: [6, 2, 1])
        }
        let full = [UInt8(5), 255] + Array(repeating: 0, count: 255)
        #expect(throws: HomeKitError.valueTooLong(type: 5)) {
            try TLV8(decoding: Array(repeating: full, count: 17).flatMap { $0 })
        }
        #expect(throws: HomeKitError.tooManyItems) {
            try TLV8(decoding: (0..<200).flatMap { [UInt8($0 % 2), 0] })
        }
        #expect(
            "\(HomeKitError.fragmentTooShort(type: 6, length: 2, available: 1))".hasPrefix(
                "invalid TLV8: fragment of type 6"))
    }

    @Test("Truncated items are an error or are decoded to different items") func everyCutIsAnErrorOrLess() throws {
        let items = TLV8([TLV8.Item(6, [1]), TLV8.Item(5, Array(repeating: 3, count: 300))])
        let bytes = items.encoded
        for count in bytes.indices {
            if let less = try? TLV8(decoding: bytes[..<count]) { #expect(less != items) }
        }
    }
}

@Suite struct SetupTests {
    @Test(
        "Trivial and malformed setup codes are rejected",
        arguments: [
            "000-00-000", "111-11-111", "999-99-999", "123-45-678", "876-54-321", "12345678", "518-08-58", "518-0a-582",
            "518 08 582", "",
        ])
    func codesThatAreGuessedFirstAreRefused(_ text: String) { #expect(HomeKitSetupCode(text) == nil) }

    @Test("Generated setup codes are valid") func drawnCodesHaveTheirForm() {
        var random = SeedOfTests(state: 5)
        for _ in 0..<100 {
            let code = HomeKitSetupCode(using: &random)
            #expect(HomeKitSetupCode(code.description) == code)
        }
    }

    /// Test vectors of Apple's development kit.
    @Test("The setup payload matches Apple's test vector") func theLabelSaysCodeAndCategory() throws {
        let code = try #require(HomeKitSetupCode("518-08-582"))
        let id = try #require(HomeKitSetupID("7OSX"))
        #expect(HomeKitSetupPayload(code, id: id, category: .outlet).text == "X-HM://0071WK4SM7OSX")
        #expect(HomeKitSetupID("7osx") == nil)
        #expect(HomeKitSetupID("7OSXY") == nil)
    }

    @Test("Apple's types have the short form, other types the full UUID") func typesOfAppleAreShort() {
        #expect(AccessoryType(0x3E).description == "3E")
        #expect(AccessoryType(uuid: "00000025-0000-1000-8000-0026BB765291") == AccessoryType(0x25))
        let other = "E863F10D-079E-48FF-8F27-9C2605A29F52"
        #expect(AccessoryType(uuid: other.lowercased())?.description == other)
        #expect(AccessoryType(uuid: "25") == nil)
        #expect(AccessoryType(uuid: "E863F10D+079E-48FF-8F27-9C2605A29F52") == nil)
    }
}

private struct SeedOfTests: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}

@Suite struct RecordTests {
    @Test("Records are unchanged after encoding and decoding") func recordsComeBack() throws {
        let records = HomeKitRecords(seed: Array(0..<32))
        #expect(try HomeKitRecords(decoding: records.encoded) == records)
        #expect(records.deviceID.count == 17)
        #expect(HomeKitRecords(seed: Array(1..<33)).deviceID != records.deviceID)
    }

    @Test("Truncated records and other versions are errors") func damagedRecordsAreErrors() {
        let bytes = HomeKitRecords(seed: Array(0..<32)).encoded
        for count in 0..<bytes.count {
            #expect(throws: HomeKitError.self) { try HomeKitRecords(decoding: bytes[..<count]) }
        }
        #expect(throws: HomeKitError.damagedRecords("unknown version")) {
            try HomeKitRecords(decoding: [1, 1, 2] + bytes.dropFirst(3))
        }
    }
}
