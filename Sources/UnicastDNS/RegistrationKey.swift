import Crypto
public import DNSWire

/// The key by which a host claims names at a registrar of the Service Registration Protocol (RFC 9665). The first host
/// that registers a name with its key owns the name. Messages are signed by SIG(0) (RFC 2931) with ECDSA and the curve
/// P-256 (RFC 6605).
public struct RegistrationKey: Sendable {
    private let key: P256.Signing.PrivateKey

    private static let algorithm: UInt8 = 13
    /// The accepted difference of the clocks in seconds.
    private static let tolerance: UInt64 = 300

    /// Creates a new key.
    public init() { key = P256.Signing.PrivateKey() }

    /// Creates a key from its ``bytes``, or returns nil if they are not a key.
    public init?(bytes: [UInt8]) {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes) else { return nil }
        self.key = key
    }

    /// The 32 bytes of the private key.
    public var bytes: [UInt8] { Array(key.rawRepresentation) }

    /// The data of the KEY record (RFC 2535 §3.1): the key of a host, for DNS.
    public var recordData: [UInt8] { [0x02, 0x01, 3, Self.algorithm] + key.publicKey.rawRepresentation }

    /// Signs a message.
    ///
    /// - Parameters:
    ///   - message: an encoded message without a signature.
    ///   - host: the name that has the KEY record.
    ///   - time: the current time in seconds since 1970.
    /// - Returns: nil if the message is shorter than a header, or cannot have one more record.
    public func sign(_ message: [UInt8], as host: Name, at time: UInt64) -> [UInt8]? {
        guard let count = HeaderField.additionalCount.read(message), count < .max else { return nil }
        let validity = [time + Self.tolerance, time - min(time, Self.tolerance)].map { UInt32(truncatingIfNeeded: $0) }
        let start: [UInt8] = [0, 0, Self.algorithm, 0, 0, 0, 0, 0]
        let data = start + validity.flatMap { bigEndian($0) as [UInt8] } + bigEndian(keyTag) + host.bytes
        guard let signature = try? key.signature(for: data + message) else { return nil }
        let signed = data + signature.rawRepresentation
        let lifetime = bigEndian(UInt32(0))
        let record =
            Name.root.bytes + bigEndian(RecordType.signature.rawValue) + bigEndian(RecordClass.any.rawValue) + lifetime
            + bigEndian(UInt16(clamping: signed.count)) + signed
        return HeaderField.additionalCount.write(count + 1, into: message) + record
    }

    /// The number that identifies the key in a signature (RFC 4034, appendix B).
    private var keyTag: UInt16 {
        let sum = recordData.enumerated().reduce(UInt32(0)) { sum, byte in
            sum + (byte.offset.isMultiple(of: 2) ? UInt32(byte.element) << 8 : UInt32(byte.element))
        }
        return UInt16(truncatingIfNeeded: sum + sum >> 16)
    }
}

extension RecordType {
    /// A signature (RFC 2931).
    static let signature = RecordType(rawValue: 24)
    /// A public key (RFC 2535).
    static let key = RecordType(rawValue: 25)
}
