import NIOCore
import NIOSSL
import PlugModel

/// Verifies the key that the peer shows in a handshake. TLS verifies that the peer has the private key.
///
/// The key must be shown in this handshake. A resumed session shows no key and never counts as verified.
final class PeerVerification {
    enum Outcome {
        case pending
        case verified(PublicKey)
        /// The certificate has no usable key, or the key is too long.
        case unfit
        /// The key is not the expected one.
        case otherKey(PublicKey)
    }

    private(set) var outcome = Outcome.pending
    private let expected: PublicKey?
    private let other: PublicKey?

    /// Creates the verification of one handshake.
    ///
    /// - Parameters:
    ///   - expected: the expected key. With nil any key passes the handshake, and the owner decides about its rights.
    ///   - other: a second key that is accepted.
    init(expecting expected: PublicKey?, or other: PublicKey? = nil) {
        self.expected = expected
        self.other = other
    }

    /// The verified key, or nil before the verification and after a failed one.
    var key: PublicKey? {
        switch outcome {
        case .verified(let key): key
        case .pending, .unfit, .otherKey: nil
        }
    }

    func verify(_ chain: [NIOSSLCertificate], _ result: EventLoopPromise<NIOSSLVerificationResult>) {
        outcome = judge(chain)
        result.succeed(key == nil ? .failed : .certificateVerified)
    }

    private func judge(_ chain: [NIOSSLCertificate]) -> Outcome {
        guard let bytes = try? chain.first?.extractPublicKey().toSPKIBytes(), let key = PublicKey(bytes: bytes) else {
            return .unfit
        }
        guard let expected, expected != key, other != key else { return .verified(key) }
        return .otherKey(key)
    }
}
