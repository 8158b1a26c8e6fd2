import HTTPTypes
import Hummingbird
import NIOCore
import Presentation

/// A rejected request: the status and the message of the answer.
struct Fault: Error, Hashable {
    var status: HTTPResponse.Status
    var record: FaultRecord
    var headers: HTTPFields

    init(_ status: HTTPResponse.Status, _ error: String, hint: String? = nil, headers: HTTPFields = [:]) {
        self.status = status
        record = FaultRecord(error, hint: hint)
        self.headers = headers
    }

    /// Creates a fault from an error text of other modules: a first line, optionally followed by lines with hints.
    init(_ status: HTTPResponse.Status, words: String) {
        let lines = words.split(separator: "\n").map(String.init)
        let hints = lines.dropFirst().map { $0.hasPrefix("hint: ") ? String($0.dropFirst(6)) : $0 }
        self.init(status, lines.first ?? words, hint: hints.isEmpty ? nil : hints.joined(separator: "; "))
    }

    static func malformed(_ error: String, hint: String? = nil) -> Fault { Fault(.badRequest, error, hint: hint) }

    static func outOfRange(_ error: String, hint: String? = nil) -> Fault {
        Fault(.unprocessableContent, error, hint: hint)
    }

    static func unavailable(_ error: String, hint: String? = nil) -> Fault {
        Fault(.serviceUnavailable, error, hint: hint)
    }
}

extension Fault: HTTPResponseError {
    func response(from request: Request, context: some RequestContext) -> Response {
        var response = Response(json: jsonLine(record), status: status)
        response.headers.append(contentsOf: headers)
        return response
    }
}

extension Response {
    init(json: String, status: HTTPResponse.Status = .ok) {
        self.init(ByteBuffer(string: json), type: "application/json", status: status)
    }

    init(_ bytes: ByteBuffer, type: String, status: HTTPResponse.Status = .ok) {
        self.init(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"], body: .init(byteBuffer: bytes))
    }
}
