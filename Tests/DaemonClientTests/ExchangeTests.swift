import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import DaemonClient

/// Tests the client against a server that answers the first bytes of a request with a fixed response and usually
/// closes the connection.
@Suite struct ExchangeTests {
    private func answering(
        _ answer: String, at name: String = "daemon.socket", closes: Bool = true,
        _ body: (DaemonClient) async throws -> Void
    ) async throws {
        let folder = TestFolder()
        let path = folder.path + "/" + name
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(FixedAnswer(answer, closes: closes))
                }
            }
            .bind(unixDomainSocketPath: path).get()
        do { try await body(DaemonClient(path: path)) } catch {
            try await server.close()
            throw error
        }
        try await server.close()
    }

    @Test("The client returns the body of a response") func theBodyIsTheAnswer() async throws {
        try await answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") { client in
            let read = try await client.get("/api/v1/house", [("from", "a b")])
            let done = try await client.post("/api/v1/plugs/Lamp/relay", json: Array("{\"on\":true}".utf8))
            #expect(read == Array("{}".utf8) && done == read)
        }
    }

    @Test(
        "The path of the socket may contain any characters",
        arguments: ["Häuser & co", "100%", "%41", "a?b#c", "[::1]", "a:80", "user@house", "Upper.Case"])
    func socketPathIsEscaped(_ name: String) async throws {
        try await answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", at: name) { client in
            let read = try await client.get("/")
            #expect(read == Array("{}".utf8))
        }
    }

    @Test("If the daemon closes the connection early, the error states whether a response had begun")
    func earlyEndIsReportedInWords() async throws {
        for (answer, reason) in [
            ("", "the daemon closed the connection before it answered"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{",
                "connection closed before the daemon's full response arrived"
            ),
        ] {
            try await answering(answer) { client in
                await #expect(throws: DaemonFault.broken(reason)) { try await client.get("/") }
            }
        }
    }

    @Test("Cancelling the task ends a stream", .timeLimit(.minutes(1)))
    func cancelledStreamEnds() async throws {
        let stream = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\ndata: x\n\n"
        try await answering(stream, closes: false) { client in
            await withTaskGroup(of: Void.self) { group in
                let (events, arrived) = AsyncStream<Void>.makeStream()
                group.addTask {
                    await #expect(throws: CancellationError.self) {
                        try await client.stream("/") { _ in
                            arrived.yield()
                            return true
                        }
                    }
                }
                for await _ in events { break }
                group.cancelAll()
            }
        }
    }

    @Test("An error response is thrown with the daemon's error and hint")
    func aFaultSaysWhatTheDaemonSays() async throws {
        let body = #"{"error":"no plug is named \"Lmap\"","hint":"Lamp"}"#
        try await answering("HTTP/1.1 404 Not Found\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)") { client in
            await #expect(throws: DaemonFault.fault(status: 404, error: "no plug is named \"Lmap\"", hint: "Lamp")) {
                try await client.get("/api/v1/plugs/Lmap")
            }
        }
    }

    @Test("An error response without JSON is thrown with its status")
    func aFaultWithoutWordsIsToldByItsStatus() async throws {
        try await answering("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\n\r\noops") { client in
            let error = "the daemon answered with status 502"
            await #expect(throws: DaemonFault.fault(status: 502, error: error, hint: nil)) { try await client.get("/") }
        }
    }

    @Test(
        "An incomplete, invalid or too large response is an error",
        arguments: [
            "", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{", "no HTTP at all\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 17_000))\r\nContent-Length: 0\r\n\r\n",
        ])
    func whatIsNoAnswerIsBroken(answer: String) async throws {
        try await answering(answer) { client in
            do {
                _ = try await client.get("/")
                Issue.record("the client accepted the response \(answer.prefix(40))")
            } catch DaemonFault.broken {}
        }
    }

    @Test("A missing socket is reported as a missing daemon") func withoutASocketThereIsNoDaemon() async throws {
        let folder = TestFolder()
        let client = DaemonClient(path: folder.path + "/daemon.socket")
        #expect(!client.isThere)
        await #expect(throws: DaemonFault.noDaemon(path: client.path)) { try await client.get("/") }
    }

    @Test("A path that is not a socket is rejected") func aFileIsNotSpokenTo() async throws {
        await #expect(throws: DaemonFault.distrusted(path: "/dev/null", why: "it is not a socket")) {
            try await DaemonClient(path: "/dev/null").get("/")
        }
    }

    @Test("A stream is read until its handler returns false") func aStreamIsReadUntilItIsEnough() async throws {
        let stream = ": hello\n\nid: 1\nevent: house\ndata: {}\n\nid: 2\ndata: x\n\n"
        try await answering("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n\(stream)") { client in
            var seen: [StreamedEvent] = []
            try await client.stream("/api/v1/stream") { event in
                seen.append(event)
                return false
            }
            #expect(seen == [StreamedEvent(id: "1", kind: "house", data: "{}")])
        }
    }

    @Test("A name is percent-encoded as one path segment") func aNameBecomesOnePartOfAPath() {
        #expect(DaemonClient.part("Lamp") == "Lamp")
        #expect(DaemonClient.part("a/b ?ü") == "a%2Fb%20%3F%C3%BC")
    }
}

private final class FixedAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: String
    private let closes: Bool
    private var isAnswered = false

    init(_ answer: String, closes: Bool) {
        self.answer = answer
        self.closes = closes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered else { return }
        isAnswered = true
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        if closes { context.close(promise: nil) }
    }
}
