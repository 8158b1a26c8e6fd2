import PlugModel
import ProtocolCore

/// Reads the values of a stored ``StoredRuleState`` in order. The checksum is verified first, so an invalid value was
/// already invalid when it was written.
struct MemoryReader {
    private let bytes: ArraySlice<UInt8>
    private var offset: Int
    /// The format version of the bytes.
    let version: UInt8

    /// Verifies the header, the version and the checksum.
    init(_ all: [UInt8]) throws(StateDecodingError) {
        let start = StoredRuleState.magic.count + 1
        guard all.starts(with: StoredRuleState.magic) else { throw StateDecodingError(offset: 0, reason: .notOurs) }
        guard all.count >= start + 16 else { throw StateDecodingError(offset: all.count, reason: .tooShort) }
        version = all[start - 1]
        guard (StoredRuleState.oldestVersion...StoredRuleState.version).contains(version) else {
            throw StateDecodingError(offset: start - 1, reason: .version(version))
        }
        bytes = all.dropLast(16)
        guard MemoryWriter.hash(bytes) == Array(all.suffix(16)) else {
            throw StateDecodingError(offset: bytes.endIndex, reason: .checksum)
        }
        offset = start
    }

    func finish() throws(StateDecodingError) {
        guard offset == bytes.endIndex else { throw StateDecodingError(offset: offset, reason: .tooLong) }
    }

    mutating func take(_ count: Int) throws(StateDecodingError) -> ArraySlice<UInt8> {
        guard bytes.endIndex - offset >= count else {
            throw StateDecodingError(offset: bytes.endIndex, reason: .tooShort)
        }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    mutating func integer<Number: FixedWidthInteger & UnsignedInteger>() throws(StateDecodingError) -> Number {
        try take(Number.bitWidth / 8).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func instant() throws(StateDecodingError) -> Instant {
        Instant(nanoseconds: Int64(bitPattern: try integer()))
    }

    /// Reads the number of entries that follow. Throws above the limit.
    mutating func count(_ limit: Int) throws(StateDecodingError) -> Int {
        let start = offset
        let count: UInt16 = try integer()
        guard count <= limit else {
            throw StateDecodingError(offset: start, reason: .outOfRange("a count up to \(limit)"))
        }
        return Int(count)
    }

    /// Reads a duration. Throws if it is negative.
    mutating func duration() throws(StateDecodingError) -> Duration {
        let start = offset
        let nanoseconds = Int64(bitPattern: try integer())
        guard nanoseconds >= 0 else { throw StateDecodingError(offset: start, reason: .outOfRange("a duration")) }
        return .nanoseconds(nanoseconds)
    }

    /// Reads a number. Throws if it is NaN, because two equal memories that contain NaN would compare as different.
    mutating func double() throws(StateDecodingError) -> Double {
        let start = offset
        let value = Double(bitPattern: try integer())
        guard !value.isNaN else { throw StateDecodingError(offset: start, reason: .outOfRange("a number")) }
        return value
    }

    mutating func text() throws(StateDecodingError) -> String { try text(atMost: StoredRuleState.maximumText) }

    mutating func words() throws(StateDecodingError) -> String { try text(atMost: StoredRuleState.maximumWords) }

    mutating func text(atMost limit: Int) throws(StateDecodingError) -> String {
        let start = offset
        let count: UInt16 = try integer()
        let text = String(validating: try take(Int(count)), as: UTF8.self)
        guard let text, count <= limit else {
            throw StateDecodingError(offset: start, reason: .outOfRange("a text"))
        }
        return text
    }

    mutating func optional<Value>(
        _ value: (inout MemoryReader) throws(StateDecodingError) -> Value
    ) throws(StateDecodingError) -> Value? {
        try flag() ? try value(&self) : nil
    }

    mutating func requestID() throws(StateDecodingError) -> RequestID {
        guard let id = RequestID(bytes: try take(16)) else { preconditionFailure("16 bytes were taken") }
        return id
    }

    /// Returns a fault for the value that was read last. Its offset is the end of that value.
    func fault(_ what: String) -> StateDecodingError { StateDecodingError(offset: offset, reason: .outOfRange(what)) }

    mutating func plugID() throws(StateDecodingError) -> PlugID {
        let start = offset
        let text = String(decoding: try take(12), as: UTF8.self)
        guard let id = PlugID(rawValue: text) else {
            throw StateDecodingError(offset: start, reason: .outOfRange("a plug's id"))
        }
        return id
    }

    mutating func cursor() throws(StateDecodingError) -> SequenceNumber? {
        let isThere = try flag()
        let number: UInt64 = try integer()
        return isThere ? number : nil
    }

    mutating func flag() throws(StateDecodingError) -> Bool {
        let start = offset
        let byte: UInt8 = try integer()
        guard byte <= 1 else { throw StateDecodingError(offset: start, reason: .outOfRange("a flag")) }
        return byte == 1
    }

    mutating func command() throws(StateDecodingError) -> StoredRuleState.Command {
        let id = try requestID()
        let name = try text()
        let plug =
            version == 1 ? try plugID() : try optional { (input) throws(StateDecodingError) in try input.plugID() }
        let rule = try text()
        let cause = try text()
        let event = try cursor()
        let until = try instant()
        let request = CommandRequest(id: id, plug: name, command: try plugCommand())
        return StoredRuleState.Command(
            request: request, plug: plug, rule: rule, cause: cause, event: event, until: until)
    }

    mutating func plugCommand() throws(StateDecodingError) -> PlugCommand {
        let start = offset
        let kind: UInt8 = try integer()
        switch kind {
        case 0, 1:
            let autoOff = Int64(bitPattern: try integer())
            return .setRelay(on: kind == 1, autoOff: autoOff < 0 ? nil : .nanoseconds(autoOff))
        case 2:
            let permille: UInt16 = try integer()
            let transition = Int64(bitPattern: try integer())
            guard let level = DimLevel(permille: Int(permille)), transition >= 0 else {
                throw StateDecodingError(offset: start, reason: .outOfRange("a level"))
            }
            return .setLevel(level, transition: .nanoseconds(transition))
        case 3: return .identify
        case 4: return .resetProtection
        case _: throw StateDecodingError(offset: start, reason: .outOfRange("a command"))
        }
    }
}
