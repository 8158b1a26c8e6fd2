import Crypto
import NIOSSL
public import PlugModel

/// What a plug or a controller proves itself with: a P-256 key. Its self-signed certificate is made anew from it at each
/// start, since peers pin the key and look at nothing else.
///
/// Nothing that prints a value shows the key: only ``pem`` does, which is for the key's file and for nothing else.
public struct TransportIdentity: Sendable {
    /// What the other side pins.
    public let publicKey: PublicKey
    let certificate: NIOSSLCertificate
    let privateKey: NIOSSLPrivateKey
    private let key: P256.Signing.PrivateKey

    /// Draws a new key.
    public init() { self.init(key: P256.Signing.PrivateKey()) }

    /// Reads the key's file.
    ///
    /// - Throws: ``TransportIdentityError`` without a character of the text.
    public init(pem: String) throws(TransportIdentityError) {
        let key: P256.Signing.PrivateKey
        do { key = try P256.Signing.PrivateKey(pemRepresentation: pem) } catch { throw .noKey }
        self.init(key: key)
    }

    private init(key: P256.Signing.PrivateKey) {
        guard let publicKey = PublicKey(bytes: key.publicKey.derRepresentation),
            let certificate = try? NIOSSLCertificate(bytes: SelfSignedCertificate.der(for: key), format: .der),
            let privateKey = try? NIOSSLPrivateKey(bytes: Array(key.derRepresentation), format: .der)
        else {
            preconditionFailure("a P-256 key has 91 bytes of SubjectPublicKeyInfo and makes a valid certificate")
        }
        self.key = key
        self.publicKey = publicKey
        self.certificate = certificate
        self.privateKey = privateKey
    }

    /// ECDSA with SHA-256 (FIPS 186-5) over the bytes, in DER.
    public func signature(of bytes: [UInt8]) throws -> [UInt8] {
        Array(try key.signature(for: bytes).derRepresentation)
    }

    /// The private key as PKCS #8 (RFC 5958) in PEM (RFC 7468). It is the secret itself.
    public var pem: String { key.pemRepresentation + "\n" }
}

/// An identity that finds its way into a log by mistake says nothing there.
extension TransportIdentity: CustomStringConvertible, CustomReflectable {
    public var description: String { "a transport identity" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a text holds no identity.
public enum TransportIdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    case noKey

    public var description: String { "it holds no P-256 private key in PEM" }
}
