import AsyncHTTPClient
import HTTPRequests
import LinuxSystem
import NIOCore

extension DaemonClient {
    /// Sends the request and passes the response body to `take` in pieces.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - limit: The time limit for the whole response; nil for none.
    ///   - take: Handles a piece. Returns false to stop reading.
    func exchange(
        _ request: HTTPClientRequest, within limit: Duration?, _ take: (ByteBuffer) async throws -> Bool
    ) async throws {
        try checkSocket()
        var isAnswered = false
        do {
            try await SingleRequest(request, connectWithin: Self.connectLimit, within: limit).run { response in
                isAnswered = true
                try await read(response, take)
            }
        } catch let fault as RequestFault {
            throw broken(fault, isAnswered: isAnswered)
        }
    }

    private func read(_ response: HTTPClientResponse, _ take: (ByteBuffer) async throws -> Bool) async throws {
        // NIO itself accepts up to 80 KiB.
        guard response.headers.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.headLimit else {
            throw DaemonFault.broken("the head of the daemon's response is longer than \(Self.headLimit) bytes")
        }
        guard (200..<300).contains(response.status.code) else {
            // Only the beginning of an error message is used.
            var fault: [UInt8] = []
            for try await piece in response.body {
                fault += piece.readableBytesView.prefix(Self.headLimit - fault.count)
            }
            throw DaemonFault(status: Int(response.status.code), body: fault)
        }
        for try await piece in response.body {
            guard try await take(piece) else { return }
        }
    }

    /// Checks that the socket belongs to this user. Requests contain private information about the house, so they are
    /// not sent to other users' sockets.
    private func checkSocket() throws(DaemonFault) {
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
    }

    /// Describes a failed request.
    ///
    /// - Parameter isAnswered: True if the head of the response has arrived.
    private func broken(_ fault: RequestFault, isAnswered: Bool) -> DaemonFault {
        switch fault {
        // A killed daemon leaves its socket file behind.
        case .notConnected(.connectionRefused), .notConnected(.notFound): .noDaemon(path: path)
        case .notConnected(let cause): .broken("cannot connect to the daemon at \(path): \(cause)")
        case .notConnectedInTime: .broken("the daemon did not accept the connection within a second")
        case .timedOut: .broken("the daemon did not answer within \(Self.answerTime.components.seconds) s")
        case .closed where !isAnswered: .broken("the daemon closed the connection before it answered")
        case .closed, .failed, .invalid, .insecure, .unknownHost:
            .broken("connection closed before the daemon's full response arrived")
        case .tooLarge, .notSent: .broken("\(fault)")
        }
    }
}
