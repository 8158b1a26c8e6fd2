import PlugModel
internal import SwiftProtobuf

/// Why a stream of bytes is no stream of frames. Nothing after such a fault can be read.
enum FrameFault: Error, Hashable {
    /// The frame that starts `offset` bytes into the stream announces a length outside 1 to 65536.
    case length(Int, offset: UInt64)
    /// The frame that starts `offset` bytes into the stream holds no message.
    case notAMessage(offset: UInt64)
}

extension FrameFault: CustomStringConvertible {
    var description: String {
        switch self {
        case .length(let length, let offset):
            "the frame at byte \(offset) announces \(length) bytes; 1 to \(PlugWire.maximumMessage) are allowed"
        case .notAMessage(let offset):
            "the frame at byte \(offset) holds no message of this protocol"
        }
    }
}

/// Cuts a stream into frames: a 4-byte big-endian length, then a message of that many bytes.
///
/// However the stream is cut into pieces, each byte is copied at most a constant number of times; a piece that holds whole
/// frames is not copied at all. The caller takes all messages after each piece, so less than one frame stays buffered.
struct FrameDecoder: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0
    /// Position in the stream of `buffer[start]`.
    private var offset: UInt64 = 0

    /// Bytes held back because their frame is not complete.
    var buffered: Int { buffer.count - start }

    mutating func append(_ bytes: [UInt8]) {
        if start == buffer.count {
            buffer = bytes
            start = 0
            return
        }
        // What was read is dropped once it is the larger part, so that each byte moves only a constant number of times.
        if start > buffer.count / 2 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next message; nil until more bytes have come.
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

    /// An idle connection keeps no memory of the largest piece it ever received.
    private mutating func releaseIfEmpty() {
        guard start == buffer.count else { return }
        buffer = []
        start = 0
    }
}
