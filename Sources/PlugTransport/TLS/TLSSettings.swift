import CPlugTransport
import NIOCore
import NIOSSL

/// The TLS configuration of plugs and controllers: version 1.3, certificates of both sides, and no state that outlives
/// a connection.
enum TLSSettings {
    /// The ALPN protocol (RFC 7301). A peer with a different protocol is rejected before any application data.
    static let applicationProtocol = "smartplug/1"

    /// The time that a closing side waits for the peer's close_notify.
    private static let shutdownTimeout = TimeAmount.seconds(1)

    static func forPlug(_ identity: TransportIdentity) -> NIOSSLContext {
        context(
            .makeServerConfiguration(
                certificateChain: [.certificate(identity.certificate)], privateKey: .privateKey(identity.privateKey)))
    }

    static func forController(_ identity: TransportIdentity, keyLog: KeyLog?) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateChain = [.certificate(identity.certificate)]
        configuration.privateKey = .privateKey(identity.privateKey)
        if let keyLog { configuration.keyLogCallback = { line in keyLog.write(line) } }
        return context(configuration)
    }

    private static func context(_ side: TLSConfiguration) -> NIOSSLContext {
        var configuration = side
        configuration.minimumTLSVersion = .tlsv13
        configuration.maximumTLSVersion = .tlsv13
        configuration.applicationProtocols = [applicationProtocol]
        configuration.shutdownTimeout = shutdownTimeout
        // Requires a certificate, which ``PeerVerification`` checks. Public certificate authorities are not used and
        // occupy no memory.
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        // Accepts only signature algorithms that are fast to verify, because a stranger chooses the key.
        configuration.verifySignatureAlgorithms = [.ecdsaSecp256R1Sha256, .ed25519]
        do {
            let context = try NIOSSLContext(configuration: configuration)
            refuseTickets(context)
            return context
        } catch {
            preconditionFailure("the settings are constant and the identity is a valid one: \(error)")
        }
    }

    /// Disables session tickets. A ticket would admit a controller that was removed after the ticket was issued. NIOSSL
    /// has no setting for it, so the code accesses its private context. If a later version of NIOSSL stores the context
    /// elsewhere, the tests fail at this precondition.
    private static func refuseTickets(_ context: NIOSSLContext) {
        guard let pointer = Mirror(reflecting: context).descendant("sslContext") as? OpaquePointer else {
            preconditionFailure("this version of NIOSSL stores its context elsewhere")
        }
        plug_transport_refuse_tickets(UnsafeMutableRawPointer(pointer))
    }
}
