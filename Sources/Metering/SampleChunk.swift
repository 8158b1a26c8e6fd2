/// A losslessly compressed run of samples. The plug's memory, the wire and the controller's database use the same
/// bytes.
///
/// Integers of the header are big endian. A *varint* has seven bits per byte, least significant first, with the high
/// bit set on all bytes but the last, and at most ten bytes. A *zigzag* is a varint that encodes 0, -1, 1, -2, ... as
/// 0, 1, 2, 3, ...
///
/// Header, 20 bytes:
///
///     0     format, 0xC1
///     1     reserved, 0
///     2-3   number of samples, 1 to 4096
///     4-11  time of the first sample, signed, milliseconds of the plug's clock
///     12-19 time of the last sample; never before the first
///
/// Blocks follow until the number of samples is reached, and nothing follows them. A block holds up to 128 samples:
///
///     0     number of samples - 1, 0 to 127
///     1     columns: bit 0 voltage, bit 1 current; the other bits are 0
///     2-    column of times: milliseconds since the previous sample, 0 for the very first
///           column of active power, 0.1 W
///           column of RMS voltage, 0.1 V, if bit 0 is set
///           column of RMS current, 1 mA, if bit 1 is set
///
/// A column stores its values as reference + quantum × n, with n in as few bits as most of the block's values need:
///
///     0     bits 0-5 width, 0 to 56; bit 6 a quantum follows (else it is 1); bit 7 exceptions follow
///     1-    reference, zigzag: the smallest value
///           quantum, varint, at least 2, if bit 6 is set
///           the low bits of n of every sample, width bits each, from the least significant bit of the first byte on;
///           the unused bits of the last byte are 0
///           if bit 7 is set: the number of exceptions, one byte, 1 to 128; for each its index in the block (one byte,
///           rising) and the bits of its n above the low bits (varint, at least 1)
///
/// Times never decrease within a chunk: if the clock was set back, a new chunk begins. A gap is a large time step, and
/// costs one exception.
public struct SampleChunk: Hashable, Sendable {
    /// The encoded chunk: header and blocks.
    public let bytes: [UInt8]

    /// The limit of samples per chunk. It bounds the memory that a few hostile bytes can make a reader allocate (98
    /// KB).
    public static let sampleLimit = 4096
    static let blockLimit = 128
    static let widthLimit = 56
    static let format: UInt8 = 0xC1
    static let headerSize = 20

    /// Creates a chunk from untrusted bytes. Only checks the header; ``samples()`` checks the blocks.
    public init(bytes: [UInt8]) throws(SampleChunkError) {
        guard bytes.count >= Self.headerSize else { throw SampleChunkError(.truncated, at: bytes.count) }
        guard bytes[0] == Self.format, bytes[1] == 0 else { throw SampleChunkError(.unknownFormat, at: 0) }
        self.init(trusted: bytes)
        guard (1...Self.sampleLimit).contains(count) else { throw SampleChunkError(.badCount, at: 2) }
        guard firstMilliseconds <= lastMilliseconds else { throw SampleChunkError(.badTime, at: 12) }
    }

    init(trusted bytes: [UInt8]) { self.bytes = bytes }

    /// The number of samples.
    public var count: Int { Int(bytes[2]) << 8 | Int(bytes[3]) }
    /// The plug's clock at the first sample, in milliseconds.
    public var firstMilliseconds: Int64 { time(at: 4) }
    /// The plug's clock at the last sample, in milliseconds.
    public var lastMilliseconds: Int64 { time(at: 12) }

    private func time(at offset: Int) -> Int64 {
        bytes[offset..<offset + 8].reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// The reason why bytes are not a valid sample chunk, and the position.
public struct SampleChunkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reasons, with their texts for the user.
    public enum Reason: String, Hashable, Sendable {
        case truncated = "the chunk ends too early"
        case unknownFormat = "unknown format of a sample chunk"
        case badCount = "the number of samples is outside 1...4096, or a block has too many samples"
        case badTime = "times run backwards, overflow, or do not end at the header's last time"
        case badColumns = "unknown columns in a block"
        case badWidth = "bit width above 56"
        case badQuantum = "a quantum below 2"
        case badException = "exceptions are not in rising order inside the block, or empty"
        case badInteger = "a varint longer than 64 bits"
        case valueOutOfRange = "a value outside the range of its column"
        case trailingBytes = "bytes after the last block"
    }

    /// The reason.
    public var reason: Reason
    /// The index of the byte at which the reader stopped.
    public var offset: Int

    init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var description: String { "\(reason.rawValue) (byte \(offset))" }
}
