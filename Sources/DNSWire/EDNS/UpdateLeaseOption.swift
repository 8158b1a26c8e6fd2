/// The lifetime of the records of an update (RFC 9664 §4).
public struct UpdateLeaseOption: Hashable, Sendable {
    /// The lifetime in seconds.
    public var lease: UInt32
    /// The lifetime of KEY records in seconds, or nil in the short form of the option.
    public var keyLease: UInt32?

    /// The code of the option.
    public static let code: UInt16 = 2

    /// Creates an option.
    public init(lease: UInt32, keyLease: UInt32? = nil) {
        self.lease = lease
        self.keyLease = keyLease
    }

    /// Decodes 4 or 8 bytes, or returns nil for any other number of bytes.
    init?(data: [UInt8]) {
        guard data.count == 4 || data.count == 8 else { return nil }
        func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }
        lease = number(data[..<4])
        keyLease = data.count == 8 ? number(data[4...]) : nil
    }

    /// The data of 4 or 8 bytes.
    var data: [UInt8] { bigEndian(lease) + (keyLease.map { bigEndian($0) } ?? []) }
}
