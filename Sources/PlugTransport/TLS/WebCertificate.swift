import Crypto

/// What a web server of this machine shows to browsers where nobody gave it anything better: a P-256 key and a certificate that
/// it signed itself.
public struct WebCertificate: Sendable {
    /// The certificate in DER.
    public let certificate: [UInt8]
    /// The private key as PKCS #8 in PEM, with a line's end. It is the secret itself.
    public let privateKeyPEM: String

    /// Draws a new key.
    ///
    /// - Parameter names: the machine's, of ASCII characters; 64 of them at most.
    public init(names: [String]) {
        let key = P256.Signing.PrivateKey()
        certificate = SelfSignedCertificate.der(for: key, names: Array(names.prefix(64)))
        privateKeyPEM = key.pemRepresentation + "\n"
    }
}

extension WebCertificate: CustomStringConvertible, CustomReflectable {
    public var description: String { "a certificate for browsers" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
