import PlugModel
internal import ProtocolCore

/// Conversions of times, lengths and ids between the wire and the model. A received value outside its range is a fault
/// and is not clamped.
enum WireScalar {
    static func instant(
        _ nanoseconds: UInt64, _ field: String, upTo limit: Instant = PlugWire.latestTime
    ) throws(MessageFault) -> Instant {
        Instant(nanoseconds: try number(nanoseconds, field, 0...limit.nanoseconds))
    }

    static func age(_ milliseconds: UInt64) throws(MessageFault) -> Duration {
        .milliseconds(try number(milliseconds, "age_ms", 0...PlugWire.latestTime.nanoseconds / 1_000_000))
    }

    static func energy(_ milliwattHours: UInt64) throws(MessageFault) -> UInt64 {
        UInt64(try number(milliwattHours, "active_energy_mwh", 0...Int64(PlugWire.greatestEnergy)))
    }

    /// The longest time that a host can have slept, in seconds: the range of the plug's clock.
    static let longestSleep = PlugWire.latestTime.nanoseconds / 1_000_000_000

    static func sleptSeconds(_ seconds: UInt64) throws(MessageFault) -> Int64 {
        try number(seconds, "slept_seconds", 0...longestSleep)
    }

    /// Encodes a plug time. Plug times are never negative.
    static func nanoseconds(_ instant: Instant) -> UInt64 { UInt64(max(0, instant.nanoseconds)) }

    static func name(_ text: String, _ field: String) throws(MessageFault) -> String {
        let bytes = text.utf8.count
        guard bytes <= PlugWire.maximumName else {
            throw .length(field: field, bytes: bytes, allowed: 0...PlugWire.maximumName)
        }
        return text
    }

    static func boot(_ bytes: some Collection<UInt8>) throws(MessageFault) -> BootID {
        guard let boot = BootID(bytes: bytes) else {
            throw .length(field: "boot_id", bytes: bytes.count, allowed: 16...16)
        }
        return boot
    }

    static func request(_ bytes: some Collection<UInt8>) throws(MessageFault) -> RequestID {
        guard let request = RequestID(bytes: bytes) else {
            throw .length(field: "request_id", bytes: bytes.count, allowed: 16...16)
        }
        return request
    }

    /// Decodes an authority. Older firmware sends an empty one.
    static func authority(_ bytes: some Collection<UInt8>) throws(MessageFault) -> AuthorityID {
        guard !bytes.isEmpty else { return .unknown }
        guard let authority = AuthorityID(bytes: bytes) else {
            throw .length(field: "authority", bytes: bytes.count, allowed: 16...16)
        }
        return authority
    }

    static func nonce(_ bytes: some Collection<UInt8>) throws(MessageFault) -> [UInt8] {
        let length = PairingTranscript.nonceLength
        guard bytes.count == length else {
            throw .length(field: "nonce", bytes: bytes.count, allowed: length...length)
        }
        return Array(bytes)
    }

    /// Decodes the number of an event.
    static func sequence(_ sequence: UInt64, _ field: String) throws(MessageFault) -> SequenceNumber {
        UInt64(try number(sequence, field, 1...Int64(PlugWire.highestSequence)))
    }

    /// Decodes a cursor: the number of the last event, or 0 before the first event.
    static func cursor(_ sequence: UInt64, _ field: String) throws(MessageFault) -> SequenceNumber {
        UInt64(try number(sequence, field, 0...Int64(PlugWire.highestSequence)))
    }

    /// Decodes the number of an audit entry. `least` is 0 for a cursor, which may have no entry yet.
    static func auditNumber(_ value: UInt64, _ field: String, from least: Int64) throws(MessageFault) -> UInt64 {
        UInt64(try number(value, field, least...Int64(AuditEntry.highestNumber)))
    }

    private static func number(
        _ value: UInt64, _ field: String, _ allowed: ClosedRange<Int64>
    ) throws(MessageFault) -> Int64 {
        guard let number = Int64(exactly: value), allowed.contains(number) else {
            throw .outOfRange(field: field, value: Int64(clamping: value), allowed: allowed)
        }
        return number
    }

    static func level(_ permille: UInt32) throws(MessageFault) -> DimLevel {
        guard let level = DimLevel(permille: Int(permille)) else {
            throw .outOfRange(field: "level_permille", value: Int64(permille), allowed: 0...1000)
        }
        return level
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded down. Negative durations become 0.
    var wireMilliseconds: UInt64 { UInt64(max(0, wholeNanoseconds) / 1_000_000) }

    var wireMilliseconds32: UInt32 { UInt32(clamping: wireMilliseconds) }
}
