import DurableFiles
import NIOCore
import NIOHTTP1

/// Asks the daemon, over its local socket, for what its HTTP API tells and does. Each request has a connection of its own:
/// a command asks one or two things and ends.
public struct DaemonClient: Sendable {
    /// Bytes of an answer. A year of energy by the hour, or a course of 4000 samples, are a few megabytes.
    static let answerLimit = 16 << 20
    /// Bytes of what precedes the body.
    static let headLimit = 16 << 10
    /// Until the daemon takes the connection: it is on the same machine.
    static let connectLimit = TimeAmount.seconds(1)
    /// Until the answer is whole. A plug that sleeps answers after seconds.
    static let answerTime = TimeAmount.seconds(15)

    /// Of its socket.
    public let path: String

    /// - Parameter path: ``DaemonSocket/path(_:)`` tells the usual one.
    public init(path: String) { self.path = path }

    /// Whether there is a file that could be the daemon's socket. True if its file system does not answer: the request reports that.
    public var isThere: Bool {
        let path = path
        return Patience.ofFiles.within(place: path) { DaemonSocket.presence(at: path) } != .absent
    }

    /// - Parameters:
    ///   - place: the path, each part of it escaped; see ``part(_:)``.
    ///   - query: names and values as they are.
    /// - Returns: the body of the answer.
    /// - Throws: ``DaemonFault``, or `CancellationError`.
    public func get(_ place: String, _ query: [(String, String)] = []) async throws -> [UInt8] {
        try await answer(Request(method: .GET, target: place + Self.text(of: query), body: nil))
    }

    /// - Parameter json: the body of the request.
    /// - Returns: the body of the answer.
    /// - Throws: as ``get(_:_:)``. After ``DaemonFault/broken(_:)`` it may have been done, or not.
    public func post(_ place: String, json: [UInt8]) async throws -> [UInt8] {
        try await answer(Request(method: .POST, target: place, body: json))
    }

    /// - Returns: the body of the answer.
    /// - Throws: as ``post(_:json:)``.
    public func delete(_ place: String) async throws -> [UInt8] {
        try await answer(Request(method: .DELETE, target: place, body: nil))
    }

    /// Reads a stream of events until `take` returns false or the daemon ends it.
    ///
    /// - Throws: as ``get(_:_:)``, and what `take` throws.
    public func stream(
        _ place: String, _ query: [(String, String)] = [], _ take: (StreamedEvent) async throws -> Bool
    ) async throws {
        var parser = EventStreamParser()
        let request = Request(method: .GET, target: place + Self.text(of: query), body: nil)
        try await exchange(request, within: nil) { piece in
            for event in try parser.take(piece.readableBytesView) {
                guard try await take(event) else { return false }
            }
            return true
        }
    }

    private func answer(_ request: Request) async throws -> [UInt8] {
        var body: [UInt8] = []
        try await exchange(request, within: Self.answerTime) { piece in
            guard body.count + piece.readableBytes <= Self.answerLimit else {
                throw DaemonFault.broken("it is longer than \(Self.answerLimit) bytes")
            }
            body += piece.readableBytesView
            return true
        }
        return body
    }

    /// Makes one part of a path of any text: a plug's name may hold slashes.
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

    /// RFC 3986 section 2.3: what stands for itself everywhere.
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
