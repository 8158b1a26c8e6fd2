internal import Crypto
public import PlugModel

extension RequestID {
    /// Derives an id from a text. Equal texts give equal ids, so that a program can repeat a request after a crash even
    /// if it has not stored the id.
    public init(madeFrom text: String) {
        let hash = SHA256.hash(data: Array("smartplug-request-1 \(text)".utf8))
        guard let id = RequestID(bytes: hash.prefix(16)) else { preconditionFailure("a SHA-256 has 32 bytes") }
        self = id
    }
}
