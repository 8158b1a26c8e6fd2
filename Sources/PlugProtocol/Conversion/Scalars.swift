import PlugModel
internal import ProtocolCore

/// Times, lengths and ids on the wire and in the model. A peer's value outside its range is a fault, never clamped.
enum WireScalar {
    static func instant(_ nanoseconds: UInt64, _ field: String) throws(MessageFault) -> Instant {
        guard let value = Int64(exactly: nanoseconds) else {
            throw .outOfRange(field: field, value: .max, allowed: 0...Int64.max - 1)
        }
        return Instant(nanoseconds: value)
    }

    /// A plug's times are never before its boot.
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

    static func nonce(_ bytes: some Collection<UInt8>) throws(MessageFault) -> [UInt8] {
        let length = PairingTranscript.nonceLength
        guard bytes.count == length else {
            throw .length(field: "nonce", bytes: bytes.count, allowed: length...length)
        }
        return Array(bytes)
    }

    static func sequence(_ number: UInt64, _ field: String) throws(MessageFault) -> SequenceNumber {
        // A number near the end of 64 bits is never reached; refusing it keeps every `+ 1` from overflowing.
        guard number < UInt64(Int64.max) else {
            throw .outOfRange(field: field, value: .max, allowed: 0...Int64.max - 1)
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
    /// Whole milliseconds, rounded down, clamped to what the wire carries.
    var wireMilliseconds: UInt64 { UInt64(max(0, wholeNanoseconds) / 1_000_000) }

    var wireMilliseconds32: UInt32 { UInt32(clamping: wireMilliseconds) }
}
