import Crypto
import Foundation
import Testing

@testable import WebPush

@Suite struct ApplicationServerKeyTests {
    private struct Claims: Decodable, Equatable {
        var aud: String
        var exp: Int64
        var sub: String
    }

    @Test("The token names the push service, expires within a day, and is signed with the published key")
    func token() throws {
        let key = try #require(ApplicationServerKey(Array(P256.Signing.PrivateKey().rawRepresentation)))
        let endpoint = try PushEndpoint("https://Push.Example.org:443/send/abc?x=y")
        let value = try #require(
            key.authorization(for: endpoint, contact: "mailto:me@example.org", now: 1_700_000_000))
        let parts = try #require(value.wholeMatch(of: /vapid t=([\w\-]+)\.([\w\-]+)\.([\w\-]+), k=([\w\-]+)/)).output
        #expect(String(parts.4) == key.publicKey)
        let signer = try P256.Signing.PublicKey(
            x963Representation: #require(Base64URL.decode(key.publicKey, bytes: 65)))
        let signature = try P256.Signing.ECDSASignature(
            rawRepresentation: #require(Base64URL.decode(String(parts.3), bytes: 64)))
        #expect(signer.isValidSignature(signature, for: Data("\(parts.1).\(parts.2)".utf8)))
        #expect(!signer.isValidSignature(signature, for: Data("\(parts.1).\(parts.2)A".utf8)))
        #expect(try json(parts.1, [String: String].self) == ["typ": "JWT", "alg": "ES256"])
        let claims = Claims(aud: "https://push.example.org", exp: 1_700_043_200, sub: "mailto:me@example.org")
        #expect(try json(parts.2, Claims.self) == claims)
        #expect(!"\(key) \(String(reflecting: key))".contains("rawRepresentation"))
        #expect(key.authorization(for: endpoint, contact: "", now: .max) != nil, "a clock far in the future")
    }

    private func json<Value: Decodable>(_ text: Substring, _ type: Value.Type) throws -> Value {
        let bytes = try #require(Base64URL.decode(String(text), bytes: text.utf8.count * 3 / 4))
        return try JSONDecoder().decode(type, from: Data(bytes))
    }

    @Test("Bytes that are not a private key are refused") func invalidKeys() {
        #expect(ApplicationServerKey([]) == nil)
        #expect(ApplicationServerKey([UInt8](repeating: 0, count: 32)) == nil)
        #expect(ApplicationServerKey([UInt8](repeating: 1, count: 31)) == nil)
        #expect(ApplicationServerKey([UInt8](repeating: 255, count: 32)) == nil)
    }

    @Test("A request has the fields of RFC 8030, and a topic of at most 32 characters") func fields() throws {
        let fields = try #require(PushFields(timeToLive: 60, urgency: .veryLow, topic: "abc-_9"))
        let written = fields.fields(authorization: "vapid").map { "\($0.name): \($0.value)" }
        #expect(
            written == [
                "Authorization: vapid", "TTL: 60", "Urgency: very-low", "Topic: abc-_9",
                "Content-Encoding: aes128gcm", "Content-Type: application/octet-stream",
            ])
        #expect(PushFields(timeToLive: 0, urgency: .high, topic: String(repeating: "a", count: 32)) != nil)
        for topic in ["", String(repeating: "a", count: 33), "a b", "a\r\nX: y", "é"] {
            #expect(PushFields(timeToLive: 0, urgency: .high, topic: topic) == nil, "\(topic)")
        }
        #expect(PushFields(timeToLive: -1, urgency: .high, topic: "a") == nil)
    }
}
