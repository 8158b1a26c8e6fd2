import NIOCore
import NIOPosix

/// Sends requests to a running `plugd` through the panel socket in its runtime directory.
public enum PanelClient {
    /// Sends a request and waits for the answer.
    ///
    /// - Returns: The text of the answer.
    /// - Throws: ``PanelError`` if no plugd answers or the request was refused.
    public static func ask(_ request: PanelRequest, at plug: PlugDirectories) async throws(PanelError) -> String {
        let line: String
        do {
            line = PanelText.lines(try await exchange(request.line, path: plug.panelSocket))
        } catch {
            throw PanelError(
                """
                no plugd answers at \(plug.panelSocket): \(error)
                hint: start one with `plugd run`, or give the --state and --runtime of one that runs
                """)
        }
        if line.hasPrefix("ok ") { return String(line.dropFirst(3)) }
        throw PanelError(line.hasPrefix("error ") ? String(line.dropFirst(6)) : "unexpected answer: \(line)")
    }

    private static func exchange(_ line: String, path: String) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(2))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let lines = LineHandler(limit: PanelLimits.answer)
                    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(lines))
                }
            }
            .connect(unixDomainSocketPath: path)
            .flatMapThrowing { try NIOAsyncChannel<String, ByteBuffer>(wrappingChannelSynchronously: $0) }
            .get()
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: line + "\n"))
            for try await answer in inbound { return answer }
            throw PanelError("the connection ended without an answer")
        }
    }
}
