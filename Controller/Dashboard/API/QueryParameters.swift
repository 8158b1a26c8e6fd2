import Hummingbird
import LinuxSystem
import PlugModel
import Presentation

/// The parameters of a query. Unknown parameters are rejected, so that no typing error is ignored. ``RequestFilter``
/// limits the length of path and query together.
struct QueryParameters {
    private var values: [String: [String]] = [:]

    /// Parses the query of a request.
    ///
    /// - Parameters:
    ///   - once: the names that may occur at most once.
    ///   - repeatable: the names that may occur several times.
    /// - Throws: `Fault` for an unknown or repeated name, or invalid percent-encoding.
    init(_ request: Request, once: Set<String> = [], repeatable: Set<String> = []) throws(Fault) {
        try self.init(request.uri.query ?? "", once: once, repeatable: repeatable)
    }

    init(_ query: String, once: Set<String> = [], repeatable: Set<String> = []) throws(Fault) {
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = String(percentEncoded: halves[0], isForm: true),
                let value = String(percentEncoded: halves.count > 1 ? halves[1] : halves[0].suffix(0), isForm: true)
            else { throw .malformed("the query is not percent-encoded UTF-8") }
            guard once.contains(name) || repeatable.contains(name) else {
                let known = (once.sorted() + repeatable.sorted()).joined(separator: ", ")
                throw .malformed(
                    "unknown parameter \"\(name)\"", hint: known.isEmpty ? nil : "the parameters are \(known)")
            }
            guard values[name] == nil || repeatable.contains(name) else {
                throw .malformed("duplicate parameter \"\(name)\"")
            }
            values[name, default: []].append(value)
        }
    }

    func text(_ name: String) -> String? { values[name]?.first }
    func all(_ name: String) -> [String] { values[name] ?? [] }

    func whole(_ name: String, _ range: ClosedRange<Int>, default usual: Int) throws(Fault) -> Int {
        guard let text = text(name) else { return usual }
        guard let value = Int(text), text.utf8.first != UInt8(ascii: "+") else {
            throw .malformed("\(name) is not a whole number")
        }
        guard range.contains(value) else {
            throw .outOfRange("\(name) is out of range", hint: "\(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// Returns the range of `from` and `to`, in milliseconds since 1970.
    ///
    /// - Parameter usual: the length of the range if `from` is missing; nil for everything before `to`.
    func span(now: WallTime, default usual: Duration?) throws(Fault) -> ClosedRange<Int64> {
        let to = try time("to")?.milliseconds ?? now.milliseconds
        let from = try time("from")?.milliseconds ?? usual.map { to - $0.components.seconds * 1000 } ?? 0
        guard from <= to else {
            throw .outOfRange("from is after to", hint: values["to"] == nil ? "the default of to is now" : nil)
        }
        return from...to
    }

    private func time(_ name: String) throws(Fault) -> WallTime? {
        guard let text = text(name) else { return nil }
        // A plus sign that was not percent-encoded arrives as a space. No time contains a space.
        guard let time = WallTime(iso8601: String(text.map { $0 == " " ? "+" : $0 })) else {
            throw .malformed("\(name) is not a time", hint: "use ISO 8601 with an offset: 2026-11-20T07:30:00Z")
        }
        return time
    }
}

extension String {
    /// Decodes percent-encoded text; nil if a percent sign is not followed by two hexadecimal digits, or if the result
    /// is not valid UTF-8.
    ///
    /// - Parameter isForm: true if a plus sign means a space, as in the queries that browsers send.
    init?(percentEncoded text: some Collection<UInt8>, isForm: Bool = false) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(isForm && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self = text
    }
}

private func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
}
