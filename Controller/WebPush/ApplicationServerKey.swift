import Crypto
import JSONText

/// The key by which push services recognize the daemon (VAPID, RFC 8292). A browser accepts only messages that are
/// signed with the key for which it subscribed.
public struct ApplicationServerKey: Sendable {
    /// The number of bytes of a private key.
    public static let size = 32
    /// The time in seconds for which a signature is valid; at most a day is allowed (RFC 8292 §2).
    static let validity: Int64 = 12 * 3600

    private let key: P256.Signing.PrivateKey

    /// Creates the key from the bytes of a private P-256 key. Returns nil if they are not a key.
    public init?(_ bytes: [UInt8]) {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes) else { return nil }
        self.key = key
    }

    /// The public key as browsers expect it: the uncompressed point in base64url.
    public var publicKey: String { Base64URL.encode(Array(key.publicKey.x963Representation)) }

    /// Returns the value of the field `Authorization` for a request (RFC 8292 §3): a JSON Web Token that is signed
    /// with ES256 (RFC 7518 §3.4), and the public key.
    ///
    /// - Parameters:
    ///   - contact: a `mailto:` or `https:` address for the operator of the push service.
    ///   - now: seconds since 1970.
    /// - Returns: nil if the signature fails.
    public func authorization(for endpoint: PushEndpoint, contact: String, now: Int64) -> String? {
        var header = JSONObject()
        header.add("typ", "JWT")
        header.add("alg", "ES256")
        var claims = JSONObject()
        claims.add("aud", endpoint.origin)
        claims.add("exp", now.addingReportingOverflow(Self.validity).partialValue)
        claims.add("sub", contact)
        let signed = [header, claims].map { Base64URL.encode(Array($0.text.utf8)) }.joined(separator: ".")
        guard let signature = try? key.signature(for: Array(signed.utf8)) else { return nil }
        return "vapid t=\(signed).\(Base64URL.encode(Array(signature.rawRepresentation))), k=\(publicKey)"
    }
}

/// The private key is not printed.
extension ApplicationServerKey: CustomStringConvertible, CustomReflectable {
    /// The public key.
    public var description: String { publicKey }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
