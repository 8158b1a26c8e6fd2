/// The origin of a command, as 16 bytes. For a controller: the first 16 bytes of the SHA-256 of the key that it paired
/// with. The id is unique per plug and does not change with the controller's key.
public struct AuthorityID: Hashable, Sendable {
    // Two words instead of an array, which would be allocated for each event.
    private let high: UInt64
    private let low: UInt64

    /// The origin is unknown: a record of older firmware, or an event of a plug that does not send the origin.
    public static let unknown = AuthorityID(high: 0, low: 0)

    /// Any client that may publish at the plug's MQTT broker. In practice no key's SHA-256 begins with these bytes.
    public static let broker = AuthorityID(high: 0, low: 1)

    /// HomeKit controllers. The plug's HomeKit server authenticates them.
    public static let homeKit = AuthorityID(high: 0, low: 2)

    /// Matter controllers. The plug's Matter device authenticates them.
    public static let matter = AuthorityID(high: 0, low: 3)

    /// Creates an id from exactly 16 bytes, or returns nil.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(high: Self.word(bytes.prefix(8)), low: Self.word(bytes.suffix(8)))
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The 16 bytes, the high word first, big endian.
    public var bytes: [UInt8] {
        [high, low].flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
    }

    private static func word(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// The key of a command in a plug's request ledger. A request id is unique only within its authority, so one client
/// cannot consume, answer or join another client's requests.
public struct CommandID: Hashable, Sendable {
    /// The origin of the command.
    public var authority: AuthorityID
    /// The request id that the origin chose.
    public var request: RequestID

    /// Creates a key from a request id and its origin.
    public init(_ request: RequestID, of authority: AuthorityID) {
        self.request = request
        self.authority = authority
    }
}
