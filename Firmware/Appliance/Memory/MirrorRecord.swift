public import Metering
public import PlugModel
import ProtocolCore

/// An entry of the mirror. The mirror is a log in memory that survives a killed process but not a loss of power. It
/// contains everything that the plug must know when its firmware restarts.
///
/// Each record is in the mirror before the plug sends any byte that depends on it. These are the bytes of a record;
/// integers are big endian:
///
///     0-3   length of the payload, 1 to 131072
///     4-7   CRC-32 (IEEE 802.3) of the payload
///     8     kind: the number in the documentation of the case
///     9-    the fields in the order listed there
///
/// An optional field is preceded by a byte, which is 1 if the field is present. A text is preceded by its length in
/// bytes, a two-byte integer. Times are nanoseconds since boot in eight bytes.
public enum MirrorRecord: Hashable, Sendable {
    /// 1, the first record of every mirror: format (one byte, 3), boot (16 bytes), plug (12 digits).
    ///
    /// Older formats are read too, so that a firmware update keeps the mirror. In format 1, a state ends after the time
    /// at which the relay turns off, and an outcome lacks alternating power and the protection. In formats 1 and 2, a
    /// request has no authority.
    case begins(BootID, PlugID)
    /// 2: an empty journal: its first number, the reason why earlier numbers are lost (one byte), the next number.
    case journal(origin: SequenceNumber, lossBefore: Gap.Reason, next: SequenceNumber)
    /// 3: number, time, kind (one byte) and its fields. The boot is that of the mirror.
    case event(PlugEvent)
    /// 4: the number with which the numbering continues after skipped numbers.
    case leap(to: SequenceNumber)
    /// 5: the outcome of a command: request (16 bytes), authority (16 bytes), then 0 for done with state and optional
    /// event, or 1 for refused with code and detail.
    case request(FinishedRequest)
    /// 6: relay, level, milliwatt-hours; optional: when the relay turns off automatically, the protection that locks it
    /// open (one byte), when it opened; the delayed start (one byte, 0 for none).
    case state(StoredState, ApplianceMemory.Timers)
    /// 7: milliseconds, deciwatts, optional decivolts and milliamperes; the active energy at that time.
    case sample(Sample, milliwattHours: UInt64)
    /// 8: samples, as a complete chunk.
    case sealedChunk(SampleChunk)
    /// 9: samples, as an open chunk.
    case openChunk(SampleChunk)
    /// 10: an event without a number: time, kind and its fields. A later event (3) assigns the number to the oldest
    /// such event. Firmware that does not support this record treats the mirror as damaged.
    case unnumbered(UnnumberedEvent)
    /// 11: the last event that the MQTT broker has acknowledged or does not need. Firmware that does not support this
    /// record treats the mirror as damaged.
    case brokerTook(SequenceNumber)

    /// The maximum number of bytes of a payload, so that a damaged length is detected. The longest record is a chunk.
    static let longestPayload = 1 << 17
    static let headSize = 8
    static let format: UInt8 = 3
    static let formats: ClosedRange<UInt8> = 1...3
}

/// Describes an invalid mirror record and its position.
public struct MirrorFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Reason: String, Hashable, Sendable {
        /// The last write was interrupted because the process was killed. Events that were sent are not affected.
        case torn = "the last record is cut off"
        /// The length field of the record is out of range.
        case badLength = "the length of a record is zero or more than 131072 bytes"
        /// The payload does not match its CRC-32.
        case badChecksum = "the checksum does not match"
        /// The payload cannot be decoded.
        case badRecord = "a record has an unknown kind or a value out of range"
        /// The record is valid, but not at this position.
        case outOfOrder = "a record does not follow from the previous ones"
    }

    /// The kind of error.
    public var reason: Reason
    /// The index of the record's first byte.
    public var offset: Int

    /// Creates a fault.
    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// The reason with the byte offset.
    public var description: String { "\(reason.rawValue) (byte \(offset))" }
}
