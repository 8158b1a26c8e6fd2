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

    var port: Int { channel.localAddress?.port ?? 0 }
    /// The requests, one per connection.
    var heard: [String] { script.all }

    init(_ lines: Line...) async throws {
        let script = Script(lines)
        self.script = script
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(script, script.next()))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func close() async { try? await channel.close() }

    static func reply(_ status: String, _ fields: [String] = [], body: String = "") -> Line {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields
        return .answer(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let script: Script
        private let line: Line
        private var text = ""

        init(_ script: Script, _ line: Line) {
            self.script = script
            self.line = line
        }

        func channelActive(context: ChannelHandlerContext) {
            if case .end = line { context.close(promise: nil) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            guard let head = text.range(of: "\r\n\r\n") else { return }
            let after = text.components(separatedBy: "Content-Length: ").dropFirst().first
            let length = after.flatMap { Int($0.prefix { $0.isNumber }) }
            guard text[head.upperBound...].utf8.count >= length ?? 0 else { return }
            script.add(text)
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
            channel.writeAndFlush(ByteBuffer(string: portion)).whenSuccess { pour(portion, into: channel) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
