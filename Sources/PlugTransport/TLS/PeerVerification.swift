import NIOCore
import NIOSSL
import PlugModel

/// Which key the other side shows during one handshake. TLS itself makes it prove that it has the private one.
///
/// It must be shown in this very handshake: a resumed session shows none and so never counts as verified.
final class PeerVerification {
    enum Outcome {
        case pending
        case verified(PublicKey)
        /// The key is none that pins: too long for one.
        case unfit
        /// Another key than the expected one.
        case otherKey(PublicKey)
    }

    private(set) var outcome = Outcome.pending
    private let expected: PublicKey?
    private let other: PublicKey?

    /// - Parameters:
    ///   - expected: nil lets any key through the handshake; what it may do is decided behind it.
    ///   - other: will do too, beside the expected one.
    init(expecting expected: PublicKey?, or other: PublicKey? = nil) {
        self.expected = expected
        self.other = other
    }

    /// The key, once it is verified.
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
