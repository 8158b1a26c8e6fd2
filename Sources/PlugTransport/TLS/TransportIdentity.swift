import Crypto
import NIOSSL
public import PlugModel

/// The identity of a plug or a controller: a P-256 key. Its self-signed certificate is created again at each start,
/// since peers pin only the key.
///
/// Printing a value does not show the key. Only ``pem`` returns it, for the key file.
public struct TransportIdentity: Sendable {
    /// The key that peers pin.
    public let publicKey: PublicKey
    let certificate: NIOSSLCertificate
    let privateKey: NIOSSLPrivateKey
    private let key: P256.Signing.PrivateKey

    /// Draws a new key.
    public init() { self.init(key: P256.Signing.PrivateKey()) }

    /// Parses the content of a key file.
    ///
    /// - Throws: ``TransportIdentityError``, which does not contain any of the text.
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

    /// Returns the ECDSA signature of the bytes with SHA-256 (FIPS 186-5), in DER.
    public func signature(of bytes: [UInt8]) throws -> [UInt8] {
        Array(try key.signature(for: bytes).derRepresentation)
    }

    /// The private key as PKCS #8 (RFC 5958) in PEM (RFC 7468). This text is secret.
    public var pem: String { key.pemRepresentation + "\n" }
}

/// Hides the key, so that it does not appear in a log by mistake.
extension TransportIdentity: CustomStringConvertible, CustomReflectable {
    public var description: String { "a transport identity" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The reason why a text does not contain an identity.
public enum TransportIdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is not a P-256 private key in PEM.
    case noKey

    public var description: String { "it does not contain a P-256 private key in PEM" }
}
