import Foundation
import Hummingbird
import NIOCore

/// The body of a request: a JSON object. Unknown keys are rejected.
protocol JSONBody: Decodable {
    static var keys: Set<String> { get }
    /// The maximum size in bytes; by default 4096. The longest valid body of most routes has about 200 bytes.
    static var limit: Int { get }
}

extension JSONBody {
    /// - Throws: ``Fault``, `NIOTooManyBytesError` for a body above ``limit``, or the error of the connection.
    static func read(from request: Request) async throws -> Self {
        try read(from: Data(try await request.body.collect(upTo: limit).readableBytesView))
    }

    static var limit: Int { 4096 }

    static func read(from bytes: Data) throws(Fault) -> Self {
        do {
            return try JSONDecoder().decode(Strictly<Self>.self, from: bytes).value
        } catch let fault as Fault {
            throw fault
        } catch DecodingError.keyNotFound(let key, _) {
            throw .malformed("\"\(key.stringValue)\" is missing")
        } catch DecodingError.typeMismatch(_, let context) {
            let name = context.codingPath.last?.stringValue
            throw .malformed(name.map { "\"\($0)\" has the wrong type" } ?? "the body is not a JSON object")
        } catch {
            throw .malformed("the body is not a JSON object")
        }
    }
}

/// Rejects unknown keys and null values.
struct Strictly<Body: JSONBody>: Decodable {
    let value: Body

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        for key in container.allKeys {
            guard Body.keys.contains(key.stringValue) else {
                let known = Body.keys.sorted().joined(separator: ", ")
                throw Fault.malformed(
                    "unknown key \"\(key.stringValue)\"", hint: known.isEmpty ? nil : "the keys are \(known)")
            }
            if try container.decodeNil(forKey: key) { throw Fault.malformed("\"\(key.stringValue)\" is null") }
        }
        value = try Body(from: decoder)
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
