import Foundation
import LinuxSystem
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP request.
struct Request: Sendable {
    var method: HTTPMethod
    /// The escaped path and query.
    var target: String
    /// The JSON body; nil for none.
    var body: [UInt8]?

    /// The request as parts for NIO.
    var parts: [HTTPClientRequestPart] {
        [.head(head)] + (body.map { [.body(.byteBuffer(ByteBuffer(bytes: $0)))] } ?? []) + [.end(nil)]
    }

    private var head: HTTPRequestHead {
        var headers = HTTPHeaders([("Host", "localhost"), ("Connection", "close")])
        if let body {
            headers.add(name: "Content-Type", value: "application/json")
            headers.add(name: "Content-Length", value: "\(body.count)")
        }
        return HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)
    }
}

extension DaemonClient {
    private typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    /// Sends the request and passes the response body to `take` in pieces.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - limit: The time limit for the whole response; nil for none.
    ///   - take: Handles a piece. Returns false to stop reading.
    func exchange(
        _ request: Request, within limit: TimeAmount?, _ take: (ByteBuffer) async throws -> Bool
    ) async throws {
        let connection = try await connect()
        let loop = connection.channel.eventLoop
        let channel = connection.channel
        let deadline = limit.map { loop.scheduleTask(in: $0) { channel.close(promise: nil) } }
        defer { deadline?.cancel() }
        let began = ContinuousClock.now
        do {
            try await connection.executeThenClose { inbound, outbound in
                // All parts are written at once, because a daemon that refuses a request may close the connection
                // before it has read the whole request.
                try await outbound.write(contentsOf: request.parts)
                guard try await read(inbound, take) else {
                    throw DaemonFault.broken("the daemon closed the connection before it answered")
                }
            }
        } catch let fault as DaemonFault where !isOver(limit, since: began) {
            throw fault
        } catch let error {
            try Task.checkCancellation()
            if let limit, isOver(limit, since: began) {
                throw DaemonFault.broken("the daemon did not answer within \(limit.nanoseconds / 1_000_000_000) s")
            }
            guard error is ChannelError || error is IOError || error is HTTPParserError else { throw error }
            throw DaemonFault.broken("connection closed before the daemon's full response arrived")
        }
    }

    /// Reads a response. Returns false if the connection ended before the response was complete.
    private func read(
        _ parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>, _ take: (ByteBuffer) async throws -> Bool
    ) async throws -> Bool {
        var status = 0
        var fault: [UInt8] = []
        for try await part in parts {
            switch part {
            case .head(let head):
                // NIO itself accepts up to 80 KiB.
                guard head.headers.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.headLimit else {
                    throw DaemonFault.broken("the head of the daemon's response is longer than \(Self.headLimit) bytes")
                }
                status = Int(head.status.code)
            case .body(let piece) where (200..<300).contains(status):
                guard try await take(piece) else { return true }
            case .body(let piece):
                // Only the beginning of an error message is used.
                fault += piece.readableBytesView.prefix(Self.headLimit - fault.count)
            case .end:
                guard (200..<300).contains(status) else { throw DaemonFault(status: status, body: fault) }
                return true
            }
        }
        return false
    }

    /// Connects to the socket if it belongs to this user. Requests contain private information about the house, so they
    /// are not sent to other users' sockets.
    private func connect() async throws -> Connection {
        let path = path
        guard let presence = FileSystemTimeout.ofFiles.within(place: path, { DaemonSocket.presence(at: path) }) else {
            throw DaemonFault.broken("the file system of the daemon's socket \(path) does not respond")
        }
        switch presence {
        case .own: break
        case .absent: throw DaemonFault.noDaemon(path: path)
        case .noSocket: throw DaemonFault.distrusted(path: path, why: "it is not a socket")
        case .foreign(let owner):
            throw DaemonFault.distrusted(path: path, why: "it belongs to another user (number \(owner))")
        }
        guard path.utf8.count <= DaemonSocket.longestPath else {
            throw DaemonFault.broken("the path of the daemon's socket is longer than \(DaemonSocket.longestPath) bytes")
        }
        do {
            return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(Self.connectLimit)
                .connect(unixDomainSocketPath: path) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        return try Connection(wrappingChannelSynchronously: channel)
                    }
                }
        } catch let error as IOError where error.errnoCode == ECONNREFUSED || error.errnoCode == ENOENT {
            // A killed daemon leaves its socket file behind.
            throw DaemonFault.noDaemon(path: path)
        } catch is ChannelError {
            throw DaemonFault.broken("the daemon did not accept the connection within a second")
        } catch let error as IOError {
            throw DaemonFault.broken("cannot connect to the daemon at \(path): \(SystemError(error.errnoCode))")
        }
    }

    private func isOver(_ limit: TimeAmount?, since began: ContinuousClock.Instant) -> Bool {
        limit.map { ContinuousClock.now - began >= .nanoseconds($0.nanoseconds) } ?? false
    }
}
