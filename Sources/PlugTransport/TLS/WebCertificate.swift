import Crypto

/// A P-256 key and its self-signed certificate for a local web server without a configured certificate.
public struct WebCertificate: Sendable {
    /// The certificate in DER.
    public let certificate: [UInt8]
    /// The private key as PKCS #8 in PEM, with a line feed at the end. This text is secret.
    public let privateKeyPEM: String

    /// Draws a new key and signs a certificate for it.
    ///
    /// - Parameter names: the DNS names of the machine, in ASCII. Names beyond the first 64 are dropped.
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
