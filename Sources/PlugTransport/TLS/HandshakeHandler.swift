import NIOCore
import NIOSSL
import NIOTLS
import PlugModel

/// Delays `channelActive` until the TLS handshake is complete, so that the handlers after it see only secured
/// connections.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    static let tlsName = "TLS"

    private enum State {
        case handshaking
        case secured
        case failed
    }

    private var state = State.handshaking
    private let id: ConnectionID
    private let peer: PeerVerification
    private let result: EventLoopPromise<Void>?

    /// Creates a handler.
    ///
    /// - Parameter result: succeeds when the connection is secured, or fails with a ``HandshakeError``.
    init(id: ConnectionID, peer: PeerVerification, result: EventLoopPromise<Void>? = nil) {
        self.id = id
        self.peer = peer
        self.result = result
    }

    func channelActive(context: ChannelHandlerContext) {}

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted(let negotiated)? = event as? TLSUserEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        guard negotiated == TLSSettings.applicationProtocol else {
            return fail(.otherProtocol, context)
        }
        guard peer.key != nil else { return fail(.noKey, context) }
        state = .secured
        context.channel.parent?.pipeline.fireUserInboundEventTriggered(AdmissionHandler.Report.handshakeFinished(id))
        context.fireChannelActive()
        result?.succeed()
    }

    /// Forwards data of a secured peer. Ignores data of a rejected peer, which may send until it receives the close.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .secured: context.fireChannelRead(data)
        case .handshaking, .failed: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        switch state {
        case .handshaking: fail(.closed, context)
        case .secured: context.fireChannelInactive()
        case .failed: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch state {
        case .handshaking: fail(HandshakeError(error, peer), context)
        case .secured: context.fireErrorCaught(error)
        case .failed: break
        }
    }

    private func fail(_ error: HandshakeError, _ context: ChannelHandlerContext) {
        state = .failed
        result?.fail(error)
        context.close(promise: nil)
    }
}

/// The reason why a handshake failed.
enum HandshakeError: Error {
    /// The peer's key is not the expected one.
    case otherKey(PublicKey)
    /// The peer uses TLS with a different application protocol.
    case otherProtocol
    /// The peer's certificate has no usable key.
    case noKey
    /// The peer closed the connection.
    case closed
    /// The time limit was exceeded.
    case timedOut
    /// The connection or TLS failed for this reason.
    case failed(String)

    init(_ error: any Error, _ peer: PeerVerification) {
        switch peer.outcome {
        case .otherKey(let key): self = .otherKey(key)
        case .unfit: self = .noKey
        case .pending, .verified:
            self =
                switch error {
                case NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])): .closed
                case NIOSSLError.handshakeFailed(let error): .failed("the TLS handshake failed: \(error)")
                default: .failed(reason(for: error))
                }
        }
    }
}
