internal import Crypto
public import PlugModel

extension RequestID {
    /// The same for the same text, and for no other: whoever asks again after a crash need not have kept the id.
    public init(madeFrom text: String) {
        let hash = SHA256.hash(data: Array("smartplug-request-1 \(text)".utf8))
        guard let id = RequestID(bytes: hash.prefix(16)) else { preconditionFailure("a SHA-256 has 32 bytes") }
        self = id
    }
}
