import CPlugTransport
import NIOCore
import NIOSSL

/// TLS as plug and controller speak it: version 1.3, a certificate from both sides, and nothing that outlives a connection.
enum TLSSettings {
    /// The name of the protocol inside (RFC 7301). A peer that speaks another one is turned away before it says anything.
    static let applicationProtocol = "smartplug/1"

    /// How long a side that closes waits for the other's goodbye; a peer that is gone never sends one.
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
        // A certificate is demanded, and ``PeerVerification`` decides; the world's authorities have no say and take no memory.
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        // Keys that are quick to verify: a stranger chooses the key, and must not choose how long it takes.
        configuration.verifySignatureAlgorithms = [.ecdsaSecp256R1Sha256, .ed25519]
        do {
            let context = try NIOSSLContext(configuration: configuration)
            refuseTickets(context)
            return context
        } catch {
            preconditionFailure("the settings are constant and the identity is a valid one: \(error)")
        }
    }

    /// A ticket would let a controller in that was removed since, and NIOSSL has no setting for it. So its context is looked
    /// into; should a later version keep it elsewhere, the tests fail here before anything is shipped.
    private static func refuseTickets(_ context: NIOSSLContext) {
        guard let pointer = Mirror(reflecting: context).descendant("sslContext") as? OpaquePointer else {
            preconditionFailure("this version of NIOSSL keeps its context elsewhere")
        }
        plug_transport_refuse_tickets(UnsafeMutableRawPointer(pointer))
    }
}
