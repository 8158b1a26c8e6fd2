/// Who stands behind a command: 16 bytes. Of a controller: the first half of its key's fingerprint, so that no two have the same.
public struct AuthorityID: Hashable, Sendable {
    // Two words: an array would be an allocation for each event.
    private let high: UInt64
    private let low: UInt64

    /// Nobody that is known: in records of firmware and events of plugs that did not tell yet.
    public static let unknown = AuthorityID(high: 0, low: 0)

    /// Whoever may publish at the plug's MQTT broker. No half of a fingerprint will ever be this.
    public static let broker = AuthorityID(high: 0, low: 1)

    /// Controllers of HomeKit, which prove themselves to that door alone.
    public static let homeKit = AuthorityID(high: 0, low: 2)

    /// Nil unless there are exactly 16 bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(high: Self.word(bytes.prefix(8)), low: Self.word(bytes.suffix(8)))
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    public var bytes: [UInt8] {
        [high, low].flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
    }

    private static func word(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// A command as a plug knows it: a request id means something only together with the one who chose it, so nobody can use
/// up, answer or join the requests of another.
public struct CommandID: Hashable, Sendable {
    public var authority: AuthorityID
    public var request: RequestID

    public init(_ request: RequestID, of authority: AuthorityID) {
        self.request = request
        self.authority = authority
    }
}
