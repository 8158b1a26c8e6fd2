import AddressConfiguration
import DNSWire
import ProtocolCore
import ServiceDiscovery

/// The sleepers in the form in which they survive a restart of the proxy. Each one is stored as its own registration, so
/// that the checks of registrations also apply to stored data.
public struct StoredSleepers: Hashable, Sendable {
    /// One sleeper.
    struct Entry: Hashable, Sendable {
        let owner: OwnerOption
        let records: [Record]
        let registered: Instant
        let expires: Instant
    }

    /// The sleepers.
    let entries: [Entry]
    /// The time at which this value was created.
    let saved: Instant

    /// True without sleepers, so that a stored file can be removed.
    public var isEmpty: Bool { entries.isEmpty }
    /// The number of sleepers.
    public var count: Int { entries.count }

    init(_ sleepers: [Sleeper], now: Instant) {
        entries = sleepers.prefix(Self.countLimit).map {
            Entry(owner: $0.owner, records: $0.records.records, registered: $0.registered, expires: $0.expires)
        }
        saved = now
    }

    /// "SLPX", so that other files are recognized.
    private static let magic: UInt32 = 0x534C_5058
    private static let version: UInt16 = 1
    /// The limit of the encoded size in bytes, above the size of 128 sleepers with 12 KiB each.
    public static let sizeLimit = 2 << 20
    /// The limit of sleepers.
    private static let countLimit = 1024
    /// The longest lease in nanoseconds: one day.
    private static let leaseLimit: Int64 = 86_400_000_000_000
    /// The bytes before the entries and after them.
    private static let (headerLength, checksumLength) = (16, 4)

    /// The encoded bytes: magic, version, count, time, the sleepers, and a CRC-32 of all previous bytes.
    public var encoded: [UInt8] {
        var bytes = networkOrder(Self.magic) + networkOrder(Self.version) + networkOrder(UInt16(clamping: count))
        bytes += Self.bytes(saved)
        for entry in entries {
            let registration = SleepRegistration(id: 0, records: entry.records, owner: entry.owner)
            // The limits of a sleeper are far below the limit of a message.
            let message = (try? registration.encoded()) ?? []
            bytes += Self.bytes(entry.registered) + Self.bytes(entry.expires)
            bytes += networkOrder(UInt16(clamping: message.count)) + message
        }
        return bytes + networkOrder(Self.checksum(bytes[...]))
    }

    /// Decodes stored bytes.
    ///
    /// - Throws: the first problem. The caller reports it and starts without sleepers.
    public init(decoding bytes: [UInt8]) throws(StoredSleepersError) {
        guard bytes.count <= Self.sizeLimit else { throw .tooLong }
        let end = bytes.count - Self.checksumLength
        guard end >= Self.headerLength else { throw .truncated }
        guard Array(bytes[end...]) == networkOrder(Self.checksum(bytes[..<end])) else { throw .checksum }
        var reader = ByteReader(bytes, in: 0..<end)
        do throws(PacketError) {
            let magic = try reader.readUInt32()
            let version = try reader.readUInt16()
            let count = Int(try reader.readUInt16())
            saved = try Self.readInstant(&reader)
            let isKnown = magic == Self.magic && version == Self.version
            var entries: [Entry] = []
            while isKnown, entries.count < count, let entry = try Self.readEntry(&reader) { entries.append(entry) }
            self.entries = entries
            guard isKnown else { throw PacketError(offset: 0, reason: .length(Int(version))) }
            guard entries.count == count, reader.remaining == 0 else {
                throw PacketError(offset: reader.offset, reason: .length(count))
            }
        } catch {
            switch (error.offset, error.reason) {
            case (0, .length): throw .version
            case (_, .truncated): throw .truncated
            case (_, _): throw .content
            }
        }
    }

    /// Reads one entry, or returns nil if it is not valid.
    private static func readEntry(_ reader: inout ByteReader) throws(PacketError) -> Entry? {
        let registered = try readInstant(&reader)
        let expires = try readInstant(&reader)
        let length = Int(try reader.readUInt16())
        let message = Array(try reader.readBytes(length))
        let (lease, overflow) = expires.nanoseconds.subtractingReportingOverflow(registered.nanoseconds)
        guard registered >= .zero, !overflow, (0...leaseLimit).contains(lease),
            let registration = try? SleepRegistration(decoding: message)
        else { return nil }
        return Entry(
            owner: registration.owner, records: registration.records, registered: registered, expires: expires)
    }

    private static func readInstant(_ reader: inout ByteReader) throws(PacketError) -> Instant {
        let high = UInt64(try reader.readUInt32())
        return Instant(nanoseconds: Int64(bitPattern: high << 32 | UInt64(try reader.readUInt32())))
    }

    private static func bytes(_ instant: Instant) -> [UInt8] {
        let number = UInt64(bitPattern: instant.nanoseconds)
        return networkOrder(UInt32(truncatingIfNeeded: number >> 32)) + networkOrder(UInt32(truncatingIfNeeded: number))
    }

    /// Returns the CRC-32 of IEEE 802.3. Works without a table, because a file is written only when a host registers or
    /// is released.
    package static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var remainder: UInt32 = .max
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1 }
        }
        return ~remainder
    }
}

/// The reasons why stored bytes are not valid.
public enum StoredSleepersError: Error, Hashable, Sendable {
    /// The bytes exceed ``StoredSleepers/sizeLimit``.
    case tooLong
    /// The bytes end too early.
    case truncated
    /// The checksum does not match.
    case checksum
    /// A different version wrote the bytes, or a different program.
    case version
    /// An entry is not a valid registration, or its times are not possible.
    case content
}
