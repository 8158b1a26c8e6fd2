import Crypto
import Testing

@testable import WebPush

@Suite struct PushReceiverKeysTests {
    /// The example of RFC 8291, appendix A.
    private enum Example {
        static let receiver = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        static let receiverKey = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
        static let senderKey = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
        static let auth = "BTBZMqHH6r4Tts7J_aSIgg"
        static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
        static let plaintext = "When I grow up, I want to be a watermelon"
        static let body = """
            DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl\
            7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
            """
    }

    private func bytes(_ text: String, _ count: Int) throws -> [UInt8] {
        try #require(Base64URL.decode(text, bytes: count))
    }

    private func sender() throws -> P256.KeyAgreement.PrivateKey {
        try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes(Example.senderKey, 32))
    }

    /// Decrypts as a browser does (RFC 8291 section 3.4), and removes the padding.
    private func decrypt(_ body: [UInt8]) throws -> [UInt8] {
        let receiver = try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes(Example.receiverKey, 32))
        let (salt, point) = (Array(body[..<16]), Array(body[21..<86]))
        let agreed = try receiver.sharedSecretFromKeyAgreement(with: .init(x963Representation: point))
        let ikm = agreed.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: try bytes(Example.auth, 16),
            sharedInfo: Array("WebPush: info\0".utf8) + (try bytes(Example.receiver, 65)) + point, outputByteCount: 32)
        func derive(_ info: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: ikm, salt: salt, info: Array("Content-Encoding: \(info)\0".utf8),
                outputByteCount: count)
        }
        let nonce = try AES.GCM.Nonce(data: derive("nonce", 12).withUnsafeBytes { Array($0) })
        let box = try AES.GCM.SealedBox(nonce: nonce, ciphertext: body[86..<(body.count - 16)], tag: body.suffix(16))
        var plain = Array(try AES.GCM.open(box, using: derive("aes128gcm", 16)))
        while plain.last == 0 { plain.removeLast() }
        #expect(plain.popLast() == 2)
        return plain
    }

    @Test("The example of RFC 8291 has the published body, and decrypts") func publishedExample() throws {
        let keys = try #require(PushReceiverKeys(p256dh: Example.receiver, auth: Example.auth))
        let body = keys.encrypt(
            Array(Example.plaintext.utf8), salt: try bytes(Example.salt, 16), sender: try sender())
        #expect(body.map(Base64URL.encode) == Example.body)
        #expect(try body.map { try decrypt($0) } == Array(Example.plaintext.utf8))
    }

    @Test("Padded messages have the same length and decrypt") func padding() throws {
        let keys = try #require(PushReceiverKeys(p256dh: Example.receiver, auth: Example.auth))
        for count in [0, 1, 100, 2047, 2048] {
            let message = [UInt8](repeating: 7, count: count)
            let body = try #require(
                keys.encrypt(message, paddedTo: 2048, salt: [UInt8](repeating: 1, count: 16), sender: try sender()))
            #expect(body.count == 86 + 2048 + 1 + 16)
            #expect(try decrypt(body) == message)
        }
    }

    @Test("The longest message fits into 4096 bytes, and a longer one is refused") func limit() throws {
        let keys = try #require(PushReceiverKeys(p256dh: Example.receiver, auth: Example.auth))
        let salt = [UInt8](repeating: 1, count: 16)
        let longest = [UInt8](repeating: 7, count: PushReceiverKeys.longestMessage)
        #expect(keys.encrypt(longest, paddedTo: .max, salt: salt, sender: try sender())?.count == 4096)
        #expect(keys.encrypt(longest + [7], salt: salt, sender: try sender()) == nil)
        #expect(keys.encrypt([7], salt: Array(salt.dropLast()), sender: try sender()) == nil)
    }

    @Test("Keys of a wrong length, alphabet or curve are refused") func invalidKeys() {
        let point = Example.receiver
        // The last one is a point with a changed coordinate, which is not on the curve.
        let points = [
            "", String(point.dropLast()), point + "A", point + "=", "+" + point.dropFirst(), "é" + point.dropFirst(2),
            "A" + point.dropFirst(), String(point.dropLast(8)) + "AAAAAAAA",
        ]
        for wrong in points { #expect(PushReceiverKeys(p256dh: wrong, auth: Example.auth) == nil, "\(wrong)") }
        for wrong in ["", "BTBZMqHH6r4Tts7J_aSIg", Example.auth + "A", "BTBZMqHH6r4Tts7J/aSIgg"] {
            #expect(PushReceiverKeys(p256dh: point, auth: wrong) == nil, "\(wrong)")
        }
        #expect(PushReceiverKeys(p256dh: point, auth: Example.auth) != nil)
    }

    @Test("Keys and addresses are not printed") func secretsAreNotPrinted() throws {
        let keys = try #require(PushReceiverKeys(p256dh: Example.receiver, auth: Example.auth))
        let endpoint = try PushEndpoint("https://push.example.org/send/abcdef")
        var text = ""
        dump(keys, to: &text)
        dump(endpoint, to: &text)
        text += "\(keys) \(endpoint) \(String(reflecting: keys)) \(String(reflecting: endpoint))"
        #expect(!text.contains("abcdef") && !text.contains(Example.auth) && !text.contains("37, 113"))
    }
}
