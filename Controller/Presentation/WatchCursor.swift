import Foundation
public import LinuxSystem
public import PlugModel

/// The position up to which the events of all followed plugs are processed, as one word that needs no quotes in a
/// shell.
///
/// The text is `c1` and then, in the base64 of RFC 4648 section 5 without padding: the start of the first watch in
/// milliseconds since 1970 (varint); for each plug its id (6 bytes, ascending) and the number of its last event
/// (varint); a checksum of four bytes, so that a truncated cursor does not count as an earlier one. Users should treat
/// it as an opaque word.
public struct WatchCursor: Hashable, Sendable {
    /// The maximum number of plugs, equal to that of followed plugs. Further plugs count as new ones. The limit bounds
    /// the length of each line in a network with forged ids.
    public static let limit = 1024
    /// The limit of a text in bytes, which bounds the work for an invalid argument.
    static let longestText = prefix.utf8.count + ((10 + limit * (6 + 10) + 4) * 4 + 2) / 3
    private static let prefix = "c1"

    /// The start of the first watch in a sequence of resumed watches, in whole milliseconds. For plugs that are not in
    /// the cursor, events are printed from this time on.
    public let start: WallTime
    /// The entries in the order of their ids.
    private var entries: [Entry] = []

    private struct Entry: Hashable {
        /// The id as a number of 48 bits.
        let id: UInt64
        var sequence: SequenceNumber
    }

    /// Creates a cursor.
    ///
    /// - Parameters:
    ///   - start: the start of the first watch.
    ///   - known: the last processed event per plug id.
    public init(start: WallTime, known: [PlugID: SequenceNumber] = [:]) {
        self.start = WallTime(milliseconds: max(0, start.nanosecondsSince1970) / 1_000_000)
        for (plug, sequence) in known { set(sequence, of: plug) }
    }

    /// The last processed event of each plug.
    public var known: [PlugID: SequenceNumber] {
        Dictionary(uniqueKeysWithValues: entries.map { (PlugID(number: $0.id), $0.sequence) })
    }

    func contains(_ plug: PlugID) -> Bool {
        let index = place(of: plug.number)
        return index < entries.count && entries[index].id == plug.number
    }

    mutating func set(_ sequence: SequenceNumber, of plug: PlugID) {
        let index = place(of: plug.number)
        if index < entries.count, entries[index].id == plug.number {
            entries[index].sequence = sequence
        } else if entries.count < Self.limit {
            entries.insert(Entry(id: plug.number, sequence: sequence), at: index)
        }
    }

    /// Returns the index of an id, or the index at which to insert it.
    private func place(of id: UInt64) -> Int {
        var range = 0..<entries.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range = entries[middle].id < id ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}

// MARK: As text

extension WatchCursor {
    /// The cursor as text.
    public var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16 + 9 * entries.count)
        bytes.append(varint: UInt64(start.nanosecondsSince1970 / 1_000_000))
        for entry in entries {
            bytes.append(entry.id, bytes: 6)
            bytes.append(varint: entry.sequence)
        }
        bytes.append(UInt64(Self.checkSum(bytes)), bytes: 4)
        let base64 = Data(bytes).base64EncodedString()
        return Self.prefix
            + String(
                decoding: base64.utf8.compactMap { byte -> UInt8? in
                    switch byte {
                    case UInt8(ascii: "+"): UInt8(ascii: "-")
                    case UInt8(ascii: "/"): UInt8(ascii: "_")
                    case UInt8(ascii: "="): nil
                    default: byte
                    }
                }, as: UTF8.self)
    }

    /// Parses a cursor.
    ///
    /// - Throws: `WatchCursorFault` with the reason why the text is not valid.
    public init(text: String) throws(WatchCursorFault) {
        guard text.utf8.count <= Self.longestText else { throw .tooLong }
        guard text.utf8.first == UInt8(ascii: "c") else { throw .noCursor }
        guard text.hasPrefix(Self.prefix) else { throw .otherVersion }
        guard let bytes = Self.bytes(text.dropFirst(Self.prefix.count)), bytes.count > 4 else { throw .damaged }
        var content = bytes.dropLast(4)
        guard bytes.suffix(4).reduce(0, { $0 << 8 | UInt32($1) }) == Self.checkSum(content) else { throw .damaged }
        guard let start = content.takeVarint(), start < UInt64(Int64.max) / 1_000_000 else { throw .damaged }
        self.start = WallTime(milliseconds: Int64(start))
        while !content.isEmpty {
            guard let id = content.take(6), let sequence = content.takeVarint(), sequence <= Int64.max,
                entries.last.map({ $0.id < id }) ?? true, entries.count < Self.limit
            else { throw .damaged }
            entries.append(Entry(id: id, sequence: sequence))
        }
    }

    /// Returns nil if the text is not base64 of RFC 4648 section 5.
    private static func bytes(_ text: Substring) -> [UInt8]? {
        guard !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: base64 + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)).map(
            Array.init)
    }

    /// FNV-1a, 32 bits. It detects truncated or mistyped cursors, but does not prevent forged ones.
    private static func checkSum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }
}

/// The reasons why a text is not a valid cursor.
public enum WatchCursorFault: Error, Hashable, Sendable, CustomStringConvertible {
    case noCursor, otherVersion, tooLong, damaged

    /// The message for the user.
    public var description: String {
        switch self {
        case .noCursor: "it is neither an event number nor a cursor"
        case .otherVersion: "the cursor is from a different version of plugctl"
        case .tooLong: "it is too long for a cursor"
        case .damaged: "the cursor is truncated or damaged"
        }
    }
}

extension WallTime {
    fileprivate init(milliseconds: Int64) { self.init(millisecondsSince1970: milliseconds) }
}

extension PlugID {
    fileprivate var number: UInt64 {
        guard let number = UInt64(rawValue, radix: 16) else {
            preconditionFailure("an id is twelve hexadecimal digits")
        }
        return number
    }

    /// Creates the id with this value.
    ///
    /// - Parameter number: a number of 48 bits.
    fileprivate init(number: UInt64) {
        let digits = String(number, radix: 16)
        guard let id = PlugID(rawValue: String(repeating: "0", count: 12 - digits.count) + digits) else {
            preconditionFailure("48 bits are twelve hexadecimal digits")
        }
        self = id
    }
}

extension [UInt8] {
    /// Appends the lowest `count` bytes, highest first.
    fileprivate mutating func append(_ number: UInt64, bytes count: Int) {
        for index in (0..<count).reversed() { append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(index)))) }
    }

    /// Appends seven bits per byte, lowest first; the eighth bit is set on all bytes but the last.
    fileprivate mutating func append(varint number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func take(_ count: Int) -> UInt64? {
        guard self.count >= count else { return nil }
        defer { removeFirst(count) }
        return prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Removes and returns a varint, or returns nil if it does not end or exceeds 63 bits.
    fileprivate mutating func takeVarint() -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 63, by: 7) {
            guard let byte = popFirst() else { return nil }
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return number }
        }
        return nil
    }
}
