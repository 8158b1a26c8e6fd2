import LinuxNetwork
import LinuxSystem
import NIOCore
import NIOPosix

/// Sends requests to a running `plugd` through the panel socket in its runtime directory.
public enum PanelClient {
    /// The time that a starting plugd has to open its panel socket.
    private static let startTime = Duration.seconds(10)
    private static let retryInterval = Duration.milliseconds(50)

    /// Sends a request and waits for the answer. If plugd is starting, waits up to 10 s for its socket.
    ///
    /// - Returns: The text of the answer.
    /// - Throws: ``PanelError`` if no plugd answers or the request was refused.
    public static func ask(_ request: PanelRequest, at plug: PlugDirectories) async throws(PanelError) -> String {
        let line: String
        do {
            line = PanelText.lines(try await exchange(request.line, at: plug))
        } catch {
            throw PanelError(
                """
                plugd does not answer at \(plug.panelSocket): \(reason(for: error))
                hint: start it with `plugd run`, or use the --state and --runtime of the running plugd
                """)
        }
        if line.hasPrefix("ok ") { return String(line.dropFirst(3)) }
        throw PanelError(line.hasPrefix("error ") ? String(line.dropFirst(6)) : "unexpected answer: \(line)")
    }

    private static func exchange(_ line: String, at plug: PlugDirectories) async throws -> String {
        let deadline = ContinuousClock.now + startTime
        while true {
            do {
                return try await exchange(line, path: plug.panelSocket)
            } catch let error as IOError where [.notFound, .connectionRefused].contains(SystemError(error.errnoCode)) {
                guard ContinuousClock.now < deadline, DirectoryLock.hasLivingHolder(plug.state) else { throw error }
                try await Task.sleep(for: retryInterval)
            }
        }
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
            throw PanelError("the connection was closed without an answer")
        }
    }

    /// The cause of a failed exchange, without the name of the system call that failed.
    private static func reason(for error: any Error) -> String {
        switch error {
        case let error as IOError: errorText(error.errnoCode)
        case ChannelError.connectTimeout: "it did not accept the connection within 2 s"
        case is ChannelError: "the connection was closed"
        default: "\(error)"
        }
    }
}
