import DNSWire
import ProtocolCore

/// The reasons why the text of a key file has no usable key.
public enum KeyFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text does not have the form of BIND's key files.
    case notAKey
    /// The name of the key is not a domain name.
    case wrongName
    /// The algorithm is not supported.
    case algorithm(String)
    /// The secret is not base 64, or has a wrong length.
    case wrongSecret

    public var description: String {
        switch self {
        case .notAKey: "the file has no key; `tsig-keygen NAME` of BIND writes one"
        case .wrongName: "the name of the key is not a domain name"
        case .algorithm(let name): "the algorithm \(name) is not supported; use hmac-sha256"
        case .wrongSecret: "the secret must be 16 to 256 bytes in base 64"
        }
    }
}

extension TransactionKey {
    /// Parses a key in the form of BIND: `key "NAME" { algorithm hmac-sha256; secret "BASE64"; };`. The text may contain
    /// comments, but only one key.
    public init(file text: String) throws(KeyFileError) {
        var words = Self.words(of: text)[...]
        guard words.popFirst() == "key", let name = words.popFirst(), words.popFirst() == "{" else { throw .notAKey }
        var values: [String: String] = [:]
        while let word = words.popFirst(), word != "}" {
            guard let value = words.popFirst(), words.popFirst() == ";", values.updateValue(value, forKey: word) == nil
            else { throw .notAKey }
        }
        guard words.popFirst() == ";", words.isEmpty, let algorithm = values["algorithm"],
            let secret = values["secret"], values.count == 2
        else { throw .notAKey }
        guard let name = try? Name(presentation: name), name != .root else { throw .wrongName }
        guard algorithm.lowercased() == "hmac-sha256" else { throw .algorithm(algorithm) }
        guard let bytes = Base64.decode(secret), let key = TransactionKey(name: name, secret: bytes) else {
            throw .wrongSecret
        }
        self = key
    }

    /// Splits the text into words, braces and semicolons. Comments are as in BIND: `#` and `//` to the end of the line,
    /// and `/* */`.
    private static func words(of text: String) -> [String] {
        var words: [String] = []
        var rest = Array(text.utf8)[...]
        func drop(through end: [UInt8]) {
            while !rest.isEmpty, !rest.starts(with: end) { rest.removeFirst() }
            rest = rest.dropFirst(end.count)
        }
        while let byte = rest.first {
            if rest.starts(with: "#".utf8) || rest.starts(with: "//".utf8) {
                drop(through: Array("\n".utf8))
            } else if rest.starts(with: "/*".utf8) {
                drop(through: Array("*/".utf8))
            } else if byte == UInt8(ascii: "\"") {
                rest.removeFirst()
                words.append(String(decoding: rest.prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self))
                drop(through: Array("\"".utf8))
            } else if "{};".utf8.contains(byte) {
                words.append(String(decoding: [byte], as: UTF8.self))
                rest.removeFirst()
            } else if byte <= 0x20 {
                rest.removeFirst()
            } else {
                let word = rest.prefix { $0 > 0x20 && !"{};\"".utf8.contains($0) }
                words.append(String(decoding: word, as: UTF8.self))
                rest = rest.dropFirst(word.count)
            }
        }
        return words
    }
}
