/// The HTTP statuses of HAP (HAP 6.2).
enum HTTPStatus: Int, Sendable {
    case ok = 200
    case noContent = 204
    case multiStatus = 207
    case badRequest = 400
    case unauthorized = 401
    case notFound = 404
    case methodNotAllowed = 405
    case unprocessable = 422
    case connectionAuthorizationRequired = 470
    case internalError = 500
    case unavailable = 503

    var reason: String {
        switch self {
        case .ok: "OK"
        case .noContent: "No Content"
        case .multiStatus: "Multi-Status"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .unprocessable: "Unprocessable Entity"
        case .connectionAuthorizationRequired: "Connection Authorization Required"
        case .internalError: "Internal Server Error"
        case .unavailable: "Service Unavailable"
        }
    }
}

/// A response, or an event in the same format (HAP 6.8).
struct HTTPResponse: Sendable {
    enum Body: Sendable {
        case none
        case json(String)
        case tlv8([UInt8])
    }

    static let pairingType = "application/pairing+tlv8"
    static let jsonType = "application/hap+json"

    var status: HTTPStatus
    var body: Body

    init(_ status: HTTPStatus, _ body: Body = .none) { (self.status, self.body) = (status, body) }

    var encoded: [UInt8] { encoded(version: "HTTP/1.1") }

    static func event(_ json: String) -> [UInt8] { HTTPResponse(.ok, .json(json)).encoded(version: "EVENT/1.0") }

    private func encoded(version: String) -> [UInt8] {
        let (type, bytes): (String?, [UInt8]) =
            switch body {
            case .none: (nil, [])
            case .json(let text): (Self.jsonType, Array(text.utf8))
            case .tlv8(let bytes): (Self.pairingType, bytes)
            }
        var head = "\(version) \(status.rawValue) \(status.reason)\r\n"
        if let type { head += "Content-Type: \(type)\r\n" }
        // A 204 response has no Content-Length (RFC 7230, 3.3.2).
        if status != .noContent { head += "Content-Length: \(bytes.count)\r\n" }
        return Array((head + "\r\n").utf8) + bytes
    }
}

struct HTTPRequest: Hashable, Sendable {
    var method: String
    var path: String
    /// The part of the request target after the question mark; nil without a question mark.
    var query: String?
    var body: [UInt8]
}

/// Parses consecutive requests from a stream of bytes (HTTP/1.1 as in HAP 6.2, without transfer codings).
struct HTTPRequestReader: Sendable {
    /// The limit of a request's head in bytes.
    static let headLimit = 4096
    /// The limit of a request's body in bytes. The largest HAP body, a write of all characteristics of a large
    /// accessory, has a few KiB.
    static let bodyLimit = 16 << 10

    private var bytes: [UInt8] = []
    /// The position at which the search for the end of the head continues, so that a head that arrives byte by byte is
    /// not searched repeatedly.
    private var searched = 0

    var count: Int { bytes.count }

    mutating func append(_ more: [UInt8]) { bytes += more }

    /// Removes and returns the unparsed bytes, for a session whose next bytes are encrypted.
    mutating func takeRest() -> [UInt8] {
        defer { (bytes, searched) = ([], 0) }
        return bytes
    }

    /// Removes and returns the next request, or returns nil if it is not complete.
    mutating func next() throws(HomeKitError) -> HTTPRequest? {
        guard let end = headEnd() else {
            guard bytes.count <= Self.headLimit else { throw .headTooLong }
            return nil
        }
        guard end <= Self.headLimit else { throw .headTooLong }
        let lines = Self.lines(bytes[..<end])
        guard let first = lines.first, var request = Self.requestLine(first) else { throw .notARequest }
        let length = try Self.bodyLength(lines.dropFirst())
        guard length <= Self.bodyLimit else { throw .bodyTooLong }
        let start = end + 4
        guard bytes.count - start >= length else { return nil }
        request.body = Array(bytes[start..<start + length])
        bytes.removeFirst(start + length)
        searched = 0
        return request
    }

    /// Returns the offset of the CR LF CR LF that ends the head, or nil if it has not arrived within the limit.
    private mutating func headEnd() -> Int? {
        var index = searched
        while index + 4 <= min(bytes.count, Self.headLimit + 8) {
            if bytes[index] == 13, bytes[index + 1] == 10, bytes[index + 2] == 13, bytes[index + 3] == 10 {
                return index
            }
            index += 1
        }
        searched = index
        return nil
    }

    private static func lines(_ head: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = head.startIndex
        for index in head.indices where head[index] == 10 && index > start && head[index - 1] == 13 {
            lines.append(head[start..<index - 1])
            start = index + 1
        }
        return lines + [head[start...]]
    }

    private static func requestLine(_ line: ArraySlice<UInt8>) -> HTTPRequest? {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].elementsEqual("HTTP/1.1".utf8), parts[1].first == UInt8(ascii: "/"),
            !parts[0].isEmpty
        else { return nil }
        let target = parts[1].split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        return HTTPRequest(
            method: String(decoding: parts[0], as: UTF8.self), path: target[0],
            query: target.count > 1 ? target[1] : nil, body: [])
    }

    private static func bodyLength(_ lines: ArraySlice<ArraySlice<UInt8>>) throws(HomeKitError) -> Int {
        var length: Int?
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                !line[line.startIndex].isBlank
            else { throw .invalidHeader }
            let name = line[..<colon]
            if name.matches("transfer-encoding") { throw .chunked }
            guard name.matches("content-length") else { continue }
            let digits = line[(colon + 1)...].drop(while: \.isBlank).prefix { !$0.isBlank }
            guard length == nil, !digits.isEmpty, digits.count <= 9,
                digits.allSatisfy({ (0x30...0x39).contains($0) })
            else { throw .invalidLength }
            length = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        return length ?? 0
    }
}

extension UInt8 {
    /// True for a space or a tab.
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension ArraySlice<UInt8> {
    /// Returns true if the text equals this text in lower case, without regard to the case of ASCII letters.
    fileprivate func matches(_ lowerCase: StaticString) -> Bool {
        lowerCase.withUTF8Buffer { wanted in
            elementsEqual(wanted) { (0x41...0x5A).contains($0) ? $0 | 0x20 == $1 : $0 == $1 }
        }
    }
}
