import HTTPTypes
import Hummingbird
import NIOCore

extension Dashboard {
    static let streamRoutes = [
        APIRoute(.get, "/api/v1/stream") { dashboard, request, context in
            let query = try QueryParameters(request, once: ["after"])
            let asked = query.text("after").map(StreamPosition.init)
            if case .some(nil) = asked {
                throw Fault.malformed("after is not a position in the stream", hint: "use the id of the last message")
            }
            // A browser that reconnects sends the position in the header. It has priority over the position in the
            // address.
            let last = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }.flatMap(StreamPosition.init)
            guard let pass = context.pass, await dashboard.board.hasRoom(for: pass) else { throw noRoom }
            return dashboard.stream(after: last ?? asked.flatMap(\.self), for: pass, context.channel)
        }
    ]

    private static let noRoom = Fault.unavailable(
        "too many clients follow the house",
        hint:
            "close some pages; at most \(SeatLimits.streams.password) may be open with the same password, unless it is an owner's"
    )

    private func stream(after position: StreamPosition?, for pass: Authorization, _ channel: any Channel) -> Response {
        let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { [board] writer in
                // The reader is opened when the body is written, because a prepared answer is not always sent.
                let reader = await board.open(after: position, for: pass) { channel.close(promise: nil) }
                guard let reader else { return try await writer.finish(nil) }
                // The end of the connection closes the reader. A failing write would also detect the end, but not while
                // no message is sent. The callback also runs if the connection is already closed.
                channel.closeFuture.whenComplete { _ in Task { await board.close(reader) } }
                do {
                    try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
                    try await Self.write(board, reader, &writer)
                } catch {
                    await board.close(reader)
                    throw error
                }
                await board.close(reader)
                try await writer.finish(nil)
            })
    }

    private static func write(
        _ board: LiveBoard, _ reader: UInt64, _ writer: inout any ResponseBodyWriter
    ) async throws {
        while true {
            switch await board.next(reader) {
            case .messages(let messages): try await writer.write(contentsOf: messages)
            case .heartbeat: try await writer.write(ByteBuffer(string: ": still here\n\n"))
            case .end: return
            }
        }
    }
}
