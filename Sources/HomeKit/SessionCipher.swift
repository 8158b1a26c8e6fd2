/// Encrypts a verified session in frames (HAP 6.5.2): two bytes of length, little-endian, authenticated but not
/// encrypted; up to 1,024 encrypted bytes; a tag of 16 bytes. Each direction has its own key and counts its frames in
/// the nonce.
struct SessionCipher: Sendable {
    /// The limit of plain bytes per frame (HAP 6.5.2).
    static let frameLimit = 1024
    private static let lengthBytes = 2

    /// One direction of the connection.
    struct Direction: Sendable {
        private let key: [UInt8]
        private var count: UInt64 = 0

        init(key: [UInt8]) { self.key = key }

        /// Returns the nonce of the next frame, or nil after 2^64 - 1 frames, since a nonce must not be reused.
        private mutating func nonce() -> [UInt8]? {
            let (next, hasOverflown) = count.addingReportingOverflow(1)
            guard !hasOverflown else { return nil }
            defer { count = next }
            return (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * UInt64($0))) }
        }

        mutating func seal(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
            let length = [UInt8(truncatingIfNeeded: bytes.count), UInt8(truncatingIfNeeded: bytes.count >> 8)]
            guard let nonce = nonce(),
                let sealed = PairingCryptography.seal(bytes, key: key, nonce: nonce, data: length)
            else { return nil }
            return length + sealed
        }

        mutating func open(_ bytes: ArraySlice<UInt8>, length: [UInt8]) -> [UInt8]? {
            guard let nonce = nonce() else { return nil }
            return PairingCryptography.open(bytes, key: key, nonce: nonce, data: length)
        }
    }

    enum Fault: Error, Hashable {
        /// The length field of a frame exceeds the limit.
        case tooLong(Int)
        /// A frame was changed, repeated or omitted, or encrypted with a different key.
        case notAuthentic
    }

    private var outgoing: Direction
    private var incoming: Direction
    /// The bytes of an incomplete frame, at most one frame.
    private var rest: [UInt8] = []

    /// Derives the keys of both directions for the accessory.
    ///
    /// - Parameter secret: the shared secret of pair-verify.
    init(accessory secret: [UInt8]) {
        outgoing = Direction(key: Self.key(secret, "Control-Read-Encryption-Key"))
        incoming = Direction(key: Self.key(secret, "Control-Write-Encryption-Key"))
    }

    private init(outgoing: Direction, incoming: Direction) { (self.outgoing, self.incoming) = (outgoing, incoming) }

    static func controller(_ secret: [UInt8]) -> SessionCipher {
        let accessory = SessionCipher(accessory: secret)
        return SessionCipher(outgoing: accessory.incoming, incoming: accessory.outgoing)
    }

    private static func key(_ secret: [UInt8], _ info: String) -> [UInt8] {
        PairingCryptography.derive(secret, salt: "Control-Salt", info: info)
    }

    /// Encrypts bytes into frames. Returns nil after 2^64 - 1 frames.
    mutating func seal(_ bytes: [UInt8]) -> [UInt8]? {
        var sealed: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: Self.frameLimit) {
            guard let frame = outgoing.seal(bytes[start..<min(start + Self.frameLimit, bytes.count)]) else {
                return nil
            }
            sealed += frame
        }
        return sealed
    }

    /// Decrypts all frames that are complete, and returns their plain bytes.
    mutating func open(_ bytes: [UInt8]) throws(Fault) -> [UInt8] {
        var all = (rest + bytes)[...]
        rest = []
        var plain: [UInt8] = []
        while all.count >= Self.lengthBytes {
            let length = Array(all.prefix(Self.lengthBytes))
            let count = Int(length[0]) | Int(length[1]) << 8
            guard count <= Self.frameLimit else { throw .tooLong(count) }
            let sealed = count + PairingCryptography.tagLength
            guard all.count >= Self.lengthBytes + sealed else { break }
            all = all.dropFirst(Self.lengthBytes)
            guard let opened = incoming.open(all.prefix(sealed), length: length) else { throw .notAuthentic }
            all = all.dropFirst(sealed)
            plain += opened
        }
        rest = Array(all)
        return plain
    }
}
