/// The counter of outgoing messages (Matter 4.6.1).
struct MessageCounter: Sendable {
    /// The number of bits of the random first value (Matter 4.6.1.1).
    private static let firstBits: UInt32 = 28
    /// The next value, or nil if all values are used.
    private var value: UInt32?
    private let wraps: Bool

    /// Creates a counter with a random first value from 1 to 2^28.
    ///
    /// - Parameter wraps: true for the counter of unencrypted messages, which continues with 0 after its last value.
    ///   Other counters end, because the nonce of an encrypted message must not be used again.
    init(_ randomness: inout MatterRandomness, wraps: Bool = false) {
        self.init(first: randomness.integer(UInt32.self) >> (32 - Self.firstBits) &+ 1, wraps: wraps)
    }

    init(first: UInt32, wraps: Bool = false) { (value, self.wraps) = (first, wraps) }

    /// Returns the next value, or nil if all values are used.
    mutating func next() -> UInt32? {
        guard let current = value else { return nil }
        let (following, hasOverflown) = current.addingReportingOverflow(1)
        value = hasOverflown && !wraps ? nil : following
        return current
    }
}
