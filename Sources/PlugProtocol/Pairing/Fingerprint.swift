internal import Crypto
public import PlugModel

extension PublicKey {
    /// SHA-256 of the bytes, in hexadecimal digits: what people compare and how a key is named on the wire.
    public var fingerprint: String {
        SHA256.hash(data: bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension AuthorityID {
    /// The controller of this key.
    public init(_ key: PublicKey) { self.init(hashing: key.bytes) }

    /// Another one, where this one is taken.
    var following: AuthorityID { AuthorityID(hashing: bytes) }

    private init(hashing bytes: [UInt8]) { self.init(bytes: Array(SHA256.hash(data: bytes).prefix(16)))! }
}
