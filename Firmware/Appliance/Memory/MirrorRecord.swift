public import Metering
public import PlugModel
import ProtocolCore

/// One entry of the mirror: a log, in memory that a killed process leaves behind and a loss of power does not, of everything
/// that the plug must still know when its firmware starts again.
///
/// Each record stands in the mirror before a byte leaves the plug that tells of it. Bytes, integers big endian:
///
///     0-3   length of the payload, 1 to 131072
///     4-7   CRC-32 (IEEE 802.3) of the payload
///     8     kind, the number at the case
///     9-    the fields in the order in which they stand there
///
/// An optional field has a byte before it, 1 where it is there; a text has its length in bytes before it, in two bytes;
/// times are nanoseconds since boot in eight.
public enum MirrorRecord: Hashable, Sendable {
    /// 1, the first of every mirror: format (one byte, 3), boot (16 bytes), plug (12 digits).
    ///
    /// Format 1 is read too, so that a newer firmware takes over the mirror of an older one: a state ends after the time at which
    /// the relay turns off there, and an outcome has neither alternating power nor what locks the relay. In formats 1 and 2 a
    /// request has no authority.
    case begins(BootID, PlugID)
    /// 2: an empty journal: first number of its life, why those before are lost (one byte), next number.
    case journal(origin: SequenceNumber, lossBefore: Gap.Reason, next: SequenceNumber)
    /// 3: sequence, time, kind (one byte) and what belongs to it. Its boot is the mirror's.
    case event(PlugEvent)
    /// 4: the numbers go on here.
    case leap(to: SequenceNumber)
    /// 5: how a command ended: request (16 bytes), authority (16 bytes), 0 for done with state and optional event, 1 for refused with code and
    /// detail.
    case request(FinishedRequest)
    /// 6: relay, level, milliwatt-hours; optional: when the relay turns off by itself, what locks it open (one byte), since
    /// when it is open; who gets it turned on when its rest ends (one byte, 0 nobody).
    case state(StoredState, ApplianceMemory.Timers)
    /// 7: milliseconds, deciwatts, optional decivolts and milliamperes; active energy with it.
    case sample(Sample, milliwattHours: UInt64)
    /// 8: samples, as a chunk that grows no more.
    case sealedChunk(SampleChunk)
    /// 9: samples, as the chunk that still grew.
    case openChunk(SampleChunk)
    /// 10: an event that waits for its number: time, kind and what belongs to it. Its number comes with an event (3), which ends
    /// the wait of the oldest. Firmware that does not know this record takes the mirror for damaged.
    case unnumbered(UnnumberedEvent)
    /// 11: the plug's MQTT broker has every event up to this number, or need not have it. Firmware that does not know this record takes
    /// the mirror for damaged.
    case brokerTook(SequenceNumber)

    /// Bytes of a payload at most. It stops a damaged length from being taken for one; the longest is a chunk.
    static let longestPayload = 1 << 17
    static let headSize = 8
    static let format: UInt8 = 3
    static let formats: ClosedRange<UInt8> = 1...3
}

/// Why bytes are no mirror, and where.
public struct MirrorFault: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: String, Hashable, Sendable {
        /// The last write was cut off when the process was killed: nothing that was told is missing.
        case torn = "the last record is cut off"
        case badLength = "a record of no length or of more than 131072 bytes"
        case badChecksum = "the checksum does not match"
        case badRecord = "a record of an unknown kind, or with a value out of range"
        case outOfOrder = "a record that does not follow from those before"
    }

    public var reason: Reason
    /// Index of the record's first byte.
    public var offset: Int

    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var description: String { "\(reason.rawValue) (byte \(offset))" }
}
