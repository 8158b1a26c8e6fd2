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

    /// A message as owners get it, and as all others do.
    struct Message: Hashable, Sendable {
        var whole: ByteBuffer
        /// Nil if it is for owners only.
        var others: ByteBuffer?

        var bytes: Int { whole.readableBytes + (others == whole ? 0 : others?.readableBytes ?? 0) }
    }

    /// More than a page that slept for a few minutes needs; after that the whole house is shorter than what happened.
    static let countLimit = 8192
    static let byteLimit = 2 << 20

    private let countLimit: Int
    private let byteLimit: Int
    private var messages: Deque<Message> = []
    private(set) var bytes = 0
    /// The number of the newest; 0 before there was one.
    private(set) var newest: UInt64 = 0

    init(countLimit: Int = Self.countLimit, byteLimit: Int = Self.byteLimit) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    var count: Int { messages.count }

    /// - Parameter encode: makes the message with that number.
    mutating func append(_ encode: (UInt64) -> Message) {
        newest += 1
        let message = encode(newest)
        messages.append(message)
        bytes += message.bytes
        // The newest stays, however long it is.
        while messages.count > countLimit || bytes > byteLimit && messages.count > 1 {
            bytes -= messages.removeFirst().bytes
        }
    }

    /// What follows on that number: as many messages as so many bytes hold, one at least. Messages that are for owners only are left out
    /// for others, so there may be none.
    func read(after number: UInt64, atMost limit: Int, forOwner isOwner: Bool = true) -> Reading {
        guard number <= newest, newest - number <= UInt64(messages.count) else { return .fallenBehind }
        guard number < newest else { return .nothing }
        let begin = messages.count - Int(newest - number)
        var end = begin
        var taken = 0
        var read: [ByteBuffer] = []
        while end < messages.count {
            let message = isOwner ? messages[end].whole : messages[end].others
            let length = message?.readableBytes ?? 0
            guard end == begin || taken + length <= limit else { break }
            if let message { read.append(message) }
            taken += length
            end += 1
        }
        return .messages(read, through: number + UInt64(end - begin))
    }
}
