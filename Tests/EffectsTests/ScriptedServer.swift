import Foundation
import NIOCore
import NIOPosix

/// A local web server that follows a script, one line per connection, and records the requests.
final class ScriptedServer: Sendable {
    enum Line: Sendable {
        /// Sends the text after the request, then closes the connection.
        case answer(String)
        /// Sends the text again and again after the request, until the client closes the connection.
        case flood(String)
        /// Sends nothing and keeps the connection open.
        case silence
        /// Closes the connection immediately.
        case end
    }

    private final class Script: @unchecked Sendable {
        private let lock = NSLock()
        private var lines: [Line]
        private var heard: [String] = []

        init(_ lines: [Line]) { self.lines = lines }

        /// Returns the next line of the script. The last line repeats.
        func next() -> Line { lock.withLock { lines.count > 1 ? lines.removeFirst() : lines[0] } }
        func add(_ text: String) { lock.withLock { heard.append(text) } }
        var all: [String] { lock.withLock { heard } }
    }

    private let channel: any Channel
    private let script: Script
    private let requests = AsyncStream<Void>.makeStream()
    private let ends = AsyncStream<Void>.makeStream()

    var port: Int { channel.localAddress?.port ?? 0 }
    /// The requests, one per connection.
    var heard: [String] { script.all }

    /// - Parameter answersAnything: True if the server answers the first bytes, even if they are not a request.
    init(_ lines: Line..., answersAnything: Bool = false) async throws {
        let script = Script(lines)
        self.script = script
        let (requests, ends) = (requests, ends)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Handler(script, script.next(), answersAnything, requests.continuation, ends.continuation))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func close() async { try? await channel.close() }

    /// Returns when a request has arrived that no earlier call waited for.
    func waitForRequest() async { for await _ in requests.stream { break } }

    /// Returns when a client has closed its connection that no earlier call waited for.
    func waitForEnd() async { for await _ in ends.stream { break } }

    static func reply(_ status: String, _ fields: [String] = [], body: String = "") -> Line {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields
        return .answer(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let script: Script
        private let line: Line
        private let answersAnything: Bool
        private let requests: AsyncStream<Void>.Continuation
        private let ends: AsyncStream<Void>.Continuation
        private var received = ByteBuffer()

        init(
            _ script: Script, _ line: Line, _ answersAnything: Bool, _ requests: AsyncStream<Void>.Continuation,
            _ ends: AsyncStream<Void>.Continuation
        ) {
            self.script = script
            self.line = line
            self.answersAnything = answersAnything
            self.requests = requests
            self.ends = ends
        }

        func channelInactive(context: ChannelHandlerContext) { ends.yield() }

        func channelActive(context: ChannelHandlerContext) {
            if case .end = line { context.close(promise: nil) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            // A character may be split between two reads.
            received.writeImmutableBuffer(unwrapInboundIn(data))
            if answersAnything { return answer(context) }
            let text = String(buffer: received)
            guard let head = text.range(of: "\r\n\r\n") else { return }
            let field = text.range(of: "Content-Length: ", options: .caseInsensitive)
            let length = field.flatMap { Int(text[$0.upperBound...].prefix { $0.isNumber }) }
            guard text[head.upperBound...].utf8.count >= length ?? 0 else { return }
            script.add(text)
            requests.yield()
            answer(context)
        }

        private func answer(_ context: ChannelHandlerContext) {
            switch line {
            case .answer(let answer):
                let channel = context.channel
                channel.writeAndFlush(ByteBuffer(string: answer)).whenComplete { _ in channel.close(promise: nil) }
            case .flood(let portion): Self.pour(portion, into: context.channel)
            case .silence, .end: break
            }
        }

        /// Sends until the client closes the connection.
        private static func pour(_ portion: String, into channel: any Channel) {
            channel.writeAndFlush(ByteBuffer(string: portion)).whenSuccess {
                // A write can complete at once, so a direct call would recurse until the stack overflows.
                channel.eventLoop.execute { pour(portion, into: channel) }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
