internal import Crypto
public import PlugModel

extension PublicKey {
    /// The SHA-256 of the key in 64 hexadecimal digits. Users compare it, and messages refer to keys by it.
    public var fingerprint: String {
        SHA256.hash(data: bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension AuthorityID {
    /// Derives the authority of the controller with this key.
    public init(_ key: PublicKey) { self.init(hashing: key.bytes) }

    /// The next candidate if this id is already in use.
    var following: AuthorityID { AuthorityID(hashing: bytes) }

    private init(hashing bytes: [UInt8]) { self.init(bytes: Array(SHA256.hash(data: bytes).prefix(16)))! }
}
