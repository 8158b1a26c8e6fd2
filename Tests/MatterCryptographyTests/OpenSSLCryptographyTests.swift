import MatterCryptography
import MatterSessions
import MatterWire
import Testing

@Suite struct OpenSSLCryptographyTests {
    private let cryptography: OpenSSLCryptography
    // Packet vector 1 of RFC 3610, section 8. The tags have 16 bytes instead of 8; a separate program computed them.
    private let key = hex("c0c1c2c3c4c5c6c7c8c9cacbcccdcecf")
    private let nonce = hex("00000003020100a0a1a2a3a4a5")
    private let data = Array(0..<8) as [UInt8]
    private let plaintext = Array(8..<0x1f) as [UInt8]

    init() throws { cryptography = try OpenSSLCryptography() }

    private static func hex(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    @Test("AES-CCM has the results of RFC 3610, also without data or without a message")
    func sealingMatchesTheVectors() throws {
        let ciphertext = "588c979a61c663d2f066d0c2c0f989806d5f6b61dac384"
        for (plaintext, data, expected) in [
            (plaintext, data, ciphertext + "509da654e32deac369c2dae7133cb08d"),
            (plaintext, [], ciphertext + "5a486c6b45551f1657f32eafbc417cdc"),
            ([], data, "f7b967ed442fa8dbf354efe573b846a9"),
            ([], [], "7957096160b4beb4d982e743f11a87c1"),
        ] as [([UInt8], [UInt8], String)] {
            let sealed = try cryptography.seal(plaintext, key: key, nonce: nonce, authenticating: data)
            #expect(sealed == Self.hex(expected))
            #expect(try cryptography.open(sealed, key: key, nonce: nonce, authenticating: data) == plaintext)
        }
    }

    @Test("A change of any byte of the ciphertext, the tag, the nonce, the key or the data is detected")
    func changesAreDetected() throws {
        let sealed = try cryptography.seal(plaintext, key: key, nonce: nonce, authenticating: data)
        func expectFault(_ sealed: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ data: [UInt8]) {
            #expect(throws: MatterError.self) {
                try cryptography.open(sealed, key: key, nonce: nonce, authenticating: data)
            }
        }
        func changed(_ bytes: [UInt8], _ index: Int) -> [UInt8] {
            var bytes = bytes
            bytes[index] ^= 0x10
            return bytes
        }
        for index in sealed.indices { expectFault(changed(sealed, index), key, nonce, data) }
        for index in key.indices { expectFault(sealed, changed(key, index), nonce, data) }
        for index in nonce.indices { expectFault(sealed, key, changed(nonce, index), data) }
        for index in data.indices { expectFault(sealed, key, nonce, changed(data, index)) }
        for count in sealed.indices { expectFault(Array(sealed.prefix(count)), key, nonce, data) }
    }

    @Test("Keys, nonces and messages of other lengths are errors") func invalidLengthsAreErrors() throws {
        for (key, nonce) in [([], nonce), (key + [1], nonce), (key, []), (key, nonce + [1])] as [([UInt8], [UInt8])] {
            #expect(throws: MatterError.self) {
                try cryptography.seal(plaintext, key: key, nonce: nonce, authenticating: data)
            }
        }
        let longest = [UInt8](repeating: 7, count: 65_535)
        let sealed = try cryptography.seal(longest, key: key, nonce: nonce, authenticating: [])
        #expect(try cryptography.open(sealed, key: key, nonce: nonce, authenticating: []) == longest)
        #expect(throws: MatterError.self) {
            try cryptography.seal(longest + [7], key: key, nonce: nonce, authenticating: [])
        }
    }

    @Test("PBKDF2 has the known results") func stretchingMatchesTheVectors() throws {
        // RFC 7914, section 11, and the widely used SHA-256 form of the vectors of RFC 6070.
        for (secret, salt, iterations, expected) in [
            (
                "passwd", "salt", 1,
                "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
                    + "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"
            ),
            ("password", "salt", 1, "120fb6cffcf8b32c43e7225256c4f837a86548c92ccc35480805987cb70be17b"),
            ("password", "salt", 4096, "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a"),
        ] {
            let bytes = Self.hex(expected)
            #expect(
                try cryptography.stretch(
                    Array(secret.utf8), salt: Array(salt.utf8), iterations: iterations, count: bytes.count) == bytes)
        }
        for (iterations, count) in [(0, 32), (-1, 32), (1, 0), (1, -1), (1, 1025), (Int.max, 32)] {
            #expect(throws: MatterError.self) {
                try cryptography.stretch([1], salt: [2], iterations: iterations, count: count)
            }
        }
    }

    // SEC 2, section 2.4.2: the generator, its double, and the order of the group.
    private let generator = hex(
        "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
            + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
    private let double = hex(
        "047cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978"
            + "07775510db8ed040293d9ac69f7430dbba7dade63ce982299e04b79d227873d1")
    private let order = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")

    private func scalar(_ value: UInt8) -> [UInt8] { [UInt8](repeating: 0, count: 31) + [value] }

    @Test("Sums, differences and multiples of points are correct") func arithmeticIsCorrect() throws {
        #expect(try cryptography.multiply(nil, by: scalar(1)) == generator)
        #expect(try cryptography.multiply(nil, by: scalar(2)) == double)
        #expect(try cryptography.multiply(generator, by: scalar(2)) == double)
        #expect(try cryptography.add(generator, generator) == double)
        #expect(try cryptography.subtract(double, generator) == generator)
        let triple = try cryptography.add(double, generator)
        #expect(try cryptography.multiply(generator, by: scalar(3)) == triple)
        // (n - 1) G = -G, which has the same x.
        let opposite = try cryptography.multiply(nil, by: Array(order.dropLast()) + [order[31] - 1])
        #expect(opposite.prefix(33) == generator.prefix(33))
        #expect(throws: MatterError.self) { try cryptography.add(generator, opposite) }
    }

    @Test("Numbers are reduced modulo the order") func numbersAreReduced() throws {
        #expect(try cryptography.reduce(order) == scalar(0))
        #expect(try cryptography.reduce(Array(order.dropLast()) + [order[31] + 5]) == scalar(5))
        #expect(try cryptography.reduce([]) == scalar(0))
        #expect(try cryptography.reduce([9]) == scalar(9))
        #expect(try cryptography.reduce(scalar(0) + order) == scalar(0))
        #expect(throws: MatterError.self) { try cryptography.reduce([UInt8](repeating: 1, count: 65)) }
    }

    @Test("Points that are not on the curve, and the point at infinity, are errors") func invalidPointsAreErrors() {
        var wrong = generator
        wrong[64] ^= 1
        var compressed = generator
        compressed[0] = 2
        for point in [[], [0], wrong, compressed, Array(generator.dropLast()), generator + [0]] as [[UInt8]] {
            #expect(throws: MatterError.self) { try cryptography.multiply(point, by: scalar(1)) }
            #expect(throws: MatterError.self) { try cryptography.add(point, generator) }
            #expect(throws: MatterError.self) { try cryptography.subtract(generator, point) }
        }
        #expect(throws: MatterError.self) { try cryptography.multiply(nil, by: scalar(0)) }
        #expect(throws: MatterError.self) { try cryptography.multiply(nil, by: order) }
        #expect(throws: MatterError.self) { try cryptography.multiply(generator, by: [1]) }
        #expect(throws: MatterError.self) { try cryptography.subtract(generator, generator) }
    }
}
