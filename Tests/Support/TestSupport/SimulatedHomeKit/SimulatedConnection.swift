import Foundation
public import HomeKit

/// The controller's end of one connection.
public struct SimulatedConnection: Sendable {
    /// An answer or an event.
    public struct Answer: Sendable, Equatable {
        /// True for an event, false for an answer to a request.
        public var isEvent: Bool
        /// The HTTP status.
        public var status: Int
        /// The body of the message.
        public var body: [UInt8]

        /// The body as UTF-8 text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// The id of the session at the accessory's server.
    public let id: HomeKitSessionID
    private var keys: (read: [UInt8], write: [UInt8])?
    private var counts: (read: UInt64, write: UInt64) = (0, 0)
    private var sealed: [UInt8] = []
    private var plain: [UInt8] = []
    /// The received answers and events that ``takeAnswer()`` and ``takeEvents()`` have not removed yet.
    public private(set) var answers: [Answer] = []

    /// Creates an unencrypted connection.
    public init(_ id: HomeKitSessionID) { self.id = id }

    /// Encrypts everything from now on, with keys derived from the shared secret.
    public mutating func encrypt(_ shared: [UInt8]) {
        (sealed, plain) = (plain, [])
        keys = (
            Sealing.derive(shared, "Control-Salt", "Control-Read-Encryption-Key"),
            Sealing.derive(shared, "Control-Salt", "Control-Write-Encryption-Key")
        )
    }

    /// Returns the bytes of an HTTP request.
    public mutating func request(_ method: String, _ target: String, _ body: [UInt8] = []) throws -> [UInt8] {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: plug.local\r\n"
        if !body.isEmpty { head += "Content-Length: \(body.count)\r\n" }
        return try seal(Array((head + "\r\n").utf8) + body)
    }

    /// Encrypts bytes in frames of at most 1024 bytes, or returns them unchanged before ``encrypt(_:)``.
    public mutating func seal(_ bytes: [UInt8]) throws -> [UInt8] {
        guard let keys else { return bytes }
        var all: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 1024) {
            let part = Array(bytes[start..<min(start + 1024, bytes.count)])
            let length = [UInt8(part.count & 255), UInt8(part.count >> 8)]
            all += try length + Sealing.seal(part, keys.write, Self.nonce(counts.write), length)
            counts.write += 1
        }
        return all
    }

    private static func nonce(_ count: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    }

    /// Decrypts and parses received bytes. Throws ``ControllerFault/invalid(_:)`` for malformed ones.
    public mutating func receive(_ bytes: [UInt8]) throws {
        guard let keys else {
            plain += bytes
            return try parse()
        }
        sealed += bytes
        while sealed.count >= 2 {
            let count = Int(sealed[0]) | Int(sealed[1]) << 8
            guard count <= 1024 else { throw ControllerFault.invalid("a frame of \(count) bytes") }
            guard sealed.count >= count + 18 else { break }
            plain += try Sealing.open(
                Array(sealed[2..<count + 18]), keys.read, Self.nonce(counts.read), Array(sealed[..<2]))
            counts.read += 1
            sealed.removeFirst(count + 18)
        }
        try parse()
    }

    private mutating func parse() throws {
        while let end = Data(plain).range(of: Data("\r\n\r\n".utf8)) {
            let lines = String(decoding: plain[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            let words = lines[0].split(separator: " ")
            guard words.count >= 3, let status = Int(words[1]), ["HTTP/1.1", "EVENT/1.0"].contains(words[0]) else {
                throw ControllerFault.invalid("answer \(lines[0])")
            }
            let length =
                lines.compactMap { line in
                    line.hasPrefix("Content-Length: ") ? Int(line.dropFirst(16)) : nil
                }.first ?? 0
            guard plain.count >= end.upperBound + length else { return }
            answers.append(
                Answer(
                    isEvent: words[0] == "EVENT/1.0", status: status,
                    body: Array(plain[end.upperBound..<end.upperBound + length])))
            plain.removeFirst(end.upperBound + length)
        }
    }

    /// Removes and returns the next answer that is not an event; events stay.
    public mutating func takeAnswer() -> Answer? {
        answers.firstIndex { !$0.isEvent }.map { answers.remove(at: $0) }
    }

    /// Removes and returns the bodies of all received events.
    public mutating func takeEvents() -> [String] {
        defer { answers.removeAll(where: \.isEvent) }
        return answers.filter(\.isEvent).map(\.text)
    }
}
