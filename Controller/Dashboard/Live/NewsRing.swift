import DequeModule
import NIOCore

/// The newest messages of the stream, encoded once for all readers. A reader is a number in here, never a queue of its own: one
/// that does not read costs nothing, and one that fell behind begins anew.
struct NewsRing: Sendable {
    enum Reading: Hashable {
        /// What comes next, and the number of the last of these.
        case messages([ByteBuffer], through: UInt64)
        case nothing
        /// What comes next is not kept any more, or was never here.
        case fallenBehind
    }

    /// More than a page that slept for a few minutes needs; after that the whole house is shorter than what happened.
    static let countLimit = 8192
    static let byteLimit = 2 << 20

    private let countLimit: Int
    private let byteLimit: Int
    private var messages: Deque<ByteBuffer> = []
    private(set) var bytes = 0
    /// The number of the newest; 0 before there was one.
    private(set) var newest: UInt64 = 0

    init(countLimit: Int = Self.countLimit, byteLimit: Int = Self.byteLimit) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    var count: Int { messages.count }

    /// - Parameter encode: makes the message with that number.
    mutating func append(_ encode: (UInt64) -> ByteBuffer) {
        newest += 1
        let message = encode(newest)
        messages.append(message)
        bytes += message.readableBytes
        // The newest stays, however long it is.
        while messages.count > countLimit || bytes > byteLimit && messages.count > 1 {
            bytes -= messages.removeFirst().readableBytes
        }
    }

    /// What follows on that number: as many messages as so many bytes hold, one at least.
    func read(after number: UInt64, atMost limit: Int) -> Reading {
        guard number <= newest, newest - number <= UInt64(messages.count) else { return .fallenBehind }
        guard number < newest else { return .nothing }
        let begin = messages.count - Int(newest - number)
        var end = begin
        var taken = 0
        while end < messages.count, end == begin || taken + messages[end].readableBytes <= limit {
            taken += messages[end].readableBytes
            end += 1
        }
        return .messages(Array(messages[begin..<end]), through: number + UInt64(end - begin))
    }
}
