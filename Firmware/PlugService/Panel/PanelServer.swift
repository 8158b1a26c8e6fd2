import NIOCore
import NIOPosix

/// The actor that carries out panel requests. Its executor is the event loop of the panel's connections.
protocol PanelOwner: Actor {
    /// Carries out a request and returns the answer for the user, as one or more lines of text.
    func perform(_ request: PanelRequest) async throws -> String
}

/// Listens on a Unix socket in the plug's runtime directory. Only the owner of the process can connect, because `plugd`
/// creates all files without permissions for others.
struct PanelServer: Sendable {
    private let channel: any Channel

    static func start<Owner: PanelOwner>(
        path: String, on eventLoop: any EventLoop, owner: Owner
    ) async throws -> PanelServer {
        guard path.utf8.count <= PanelLimits.socketPath else {
            throw PanelError(
                """
                the path of the panel socket has \(path.utf8.count) bytes, but at most \(PanelLimits.socketPath) are possible: \(path)
                hint: choose a shorter --runtime directory
                """)
        }
        let channel = try await ServerBootstrap(group: eventLoop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        ByteToMessageHandler(LineHandler(limit: PanelLimits.request)), PanelHandler(owner: owner))
                }
            }
            // A remaining socket file is from a killed plugd. The directory's lock proves that no process listens on
            // it.
            .bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
        return PanelServer(channel: channel)
    }

    func stop() async {
        try? await channel.close()
    }
}

private final class PanelHandler<Owner: PanelOwner>: ChannelInboundHandler {
    typealias InboundIn = String
    typealias OutboundOut = ByteBuffer

    private let owner: Owner
    private var isBusy = false

    init(owner: Owner) { self.owner = owner }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // One request at a time, so that a client cannot cause unlimited work.
        guard !isBusy else {
            return errorCaught(context: context, error: PanelError("only one request at a time is possible"))
        }
        isBusy = true
        let line = unwrapInboundIn(data)
        let answer = context.eventLoop.makePromise(of: String.self)
        answer.completeWithTask { [owner] in
            do {
                return "ok " + (try await owner.perform(PanelRequest(line: line)))
            } catch {
                return "error \(error)"
            }
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        answer.futureResult.whenSuccess { text in
            let (handler, context) = bound.value
            handler.isBusy = false
            context.writeAndFlush(
                handler.wrapOutboundOut(ByteBuffer(string: PanelText.oneLine(text) + "\n")), promise: nil)
        }
    }

    /// Sends the error message, if there is one, and closes the connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? PanelError {
            context.writeAndFlush(
                wrapOutboundOut(ByteBuffer(string: PanelText.oneLine("error \(error)") + "\n")), promise: nil)
        }
        context.close(promise: nil)
    }
}
