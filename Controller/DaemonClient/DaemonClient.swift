import AsyncHTTPClient
import LinuxSystem
import NIOCore
import NIOHTTP1

/// Sends requests to the daemon's HTTP API over its local socket. Each request uses its own connection, because a
/// command of `plugctl` sends only one or two requests.
public struct DaemonClient: Sendable {
    /// The maximum size of a response body in bytes. A year of hourly energy, or 4000 samples, takes a few megabytes.
    static let answerLimit = 16 << 20
    /// The maximum size of a response head in bytes.
    static let headLimit = 16 << 10
    /// The time limit for the daemon to accept the connection.
    static let connectLimit = Duration.seconds(1)
    /// The time limit for the whole response. It is longer than the ten seconds that the daemon waits for a plug.
    static let answerTime = Duration.seconds(15)

    /// The path of the daemon's socket.
    public let path: String

    /// Creates a client. Nothing is connected yet.
    ///
    /// - Parameter path: The path of the socket, usually ``DaemonSocket/path(_:)``.
    public init(path: String) { self.path = path }

    /// True if the socket file exists. Also true if its file system does not answer; a request then fails with an error
    /// that states this.
    public var isThere: Bool {
        let path = path
        return FileSystemTimeout.ofFiles.within(place: path) { DaemonSocket.presence(at: path) } != .absent
    }

    /// Sends a GET request.
    ///
    /// - Parameters:
    ///   - place: The path, whose parts are escaped with ``part(_:)``.
    ///   - query: Unescaped names and values.
    /// - Returns: The body of the response.
    /// - Throws: ``DaemonFault``, or `CancellationError`.
    public func get(_ place: String, _ query: [(String, String)] = []) async throws -> [UInt8] {
        try await answer(request(.GET, place + Self.text(of: query)))
    }

    /// Sends a POST request.
    ///
    /// - Parameters:
    ///   - place: The path, whose parts are escaped with ``part(_:)``.
    ///   - json: The body of the request.
    /// - Returns: The body of the response.
    /// - Throws: See ``get(_:_:)``. After ``DaemonFault/broken(_:)`` the request may or may not have been executed.
    public func post(_ place: String, json: [UInt8]) async throws -> [UInt8] {
        try await answer(request(.POST, place, json: json))
    }

    /// Sends a DELETE request.
    ///
    /// - Returns: The body of the response.
    /// - Throws: See ``post(_:json:)``.
    public func delete(_ place: String) async throws -> [UInt8] {
        try await answer(request(.DELETE, place))
    }

    /// Reads an event stream until `take` returns false or the daemon ends the stream.
    ///
    /// - Throws: See ``get(_:_:)``, and the errors of `take`.
    public func stream(
        _ place: String, _ query: [(String, String)] = [], _ take: (StreamedEvent) async throws -> Bool
    ) async throws {
        var parser = EventStreamParser()
        try await exchange(request(.GET, place + Self.text(of: query)), within: nil) { piece in
            for event in try parser.parse(piece.readableBytesView) {
                guard try await take(event) else { return false }
            }
            return true
        }
    }

    /// Creates a request to the daemon. The socket's path is the host of its URL.
    private func request(_ method: HTTPMethod, _ target: String, json: [UInt8]? = nil) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "http+unix://\(Self.part(path))\(target)")
        request.method = method
        request.headers = ["Host": "localhost", "Connection": "close"]
        if let json {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: json))
        }
        return request
    }

    private func answer(_ request: HTTPClientRequest) async throws -> [UInt8] {
        var body: [UInt8] = []
        try await exchange(request, within: Self.answerTime) { piece in
            guard body.count + piece.readableBytes <= Self.answerLimit else {
                throw DaemonFault.broken("the daemon's response is longer than \(Self.answerLimit) bytes")
            }
            body += piece.readableBytesView
            return true
        }
        return body
    }

    /// Escapes any text as one part of a path. A plug's name may contain slashes.
    public static func part(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            if isPlain(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }

    private static func text(of query: [(String, String)]) -> String {
        query.isEmpty ? "" : "?" + query.map { "\(part($0))=\(part($1))" }.joined(separator: "&")
    }

    /// Returns true for unreserved characters (RFC 3986 section 2.3).
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
