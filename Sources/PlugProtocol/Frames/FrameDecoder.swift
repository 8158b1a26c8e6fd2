import PlugModel
internal import SwiftProtobuf

/// The reason why a stream cannot be parsed into frames. Decoding cannot continue after such a fault.
enum FrameFault: Error, Hashable {
    /// The frame at byte `offset` of the stream has a length outside 1 to 65536.
    case length(Int, offset: UInt64)
    /// The frame at byte `offset` of the stream does not contain a valid message.
    case notAMessage(offset: UInt64)
}

extension FrameFault: CustomStringConvertible {
    var description: String {
        switch self {
        case .length(let length, let offset):
            "the frame at byte \(offset) announces \(length) bytes; 1 to \(PlugWire.maximumMessage) are allowed"
        case .notAMessage(let offset):
            "the frame at byte \(offset) is not a message of this protocol"
        }
    }
}

/// Splits a stream into frames: a 4-byte big-endian length, then a message of that many bytes.
///
/// For any splitting of the stream, each byte is copied at most a constant number of times. A piece that consists of
/// whole frames is not copied at all. If the caller reads all messages after each piece, less than one frame stays
/// buffered.
struct FrameDecoder: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0
    /// The position of `buffer[start]` in the stream.
    private var offset: UInt64 = 0

    /// The number of bytes that were received and not returned as messages yet.
    var buffered: Int { buffer.count - start }

    mutating func append(_ bytes: [UInt8]) {
        if start == buffer.count {
            buffer = bytes
            start = 0
            return
        }
        // Removes consumed bytes once they are the larger part, so that each byte moves only a constant number of
        // times.
        if start > buffer.count / 2 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next message, or nil if it is not complete yet.
    mutating func next<Content: Message>(_: Content.Type) throws(FrameFault) -> Content? {
        guard buffered >= 4 else {
            releaseIfEmpty()
            return nil
        }
        let length = (0..<4).reduce(0) { $0 << 8 | Int(buffer[start + $1]) }
        guard (1...PlugWire.maximumMessage).contains(length) else { throw .length(length, offset: offset) }
        guard buffered >= 4 + length else { return nil }
        let body = start + 4..<start + 4 + length
        let message: Content
        do {
            message = try Content(serializedBytes: buffer.span.bytes.extracting(body))
        } catch {
            throw .notAMessage(offset: offset)
        }
        start = body.upperBound
        offset += UInt64(4 + length)
        return message
    }

    /// Releases the memory of the largest received piece, so that an idle connection does not retain it.
    private mutating func releaseIfEmpty() {
        guard start == buffer.count else { return }
        buffer = []
        start = 0
    }
}
