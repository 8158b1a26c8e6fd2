import DequeModule
import NIOCore

/// The newest messages of the stream, each encoded once for owners, and once more for all other readers if their
/// version differs. A reader is only a number in this buffer and has no queue. A slow reader therefore costs no memory;
/// if it falls behind, it starts again with the complete state of the house.
struct EventStreamBuffer: Sendable {
    enum Reading: Hashable {
        /// The next messages, and the number of the last one.
        case messages([ByteBuffer], through: UInt64)
        case nothing
        /// The next message is no longer stored, or the given number is greater than ``newest``.
        case fallenBehind
    }

    /// A message in two versions: for owners and for all others.
    struct Message: Hashable, Sendable {
        var whole: ByteBuffer
        /// Nil if the message is for owners only.
        var others: ByteBuffer?

        var bytes: Int { whole.readableBytes + (others == whole ? 0 : others?.readableBytes ?? 0) }
    }

    /// The maximum number and the maximum bytes of the stored messages: enough for a page that was suspended for a few
    /// minutes. After a longer time, the complete state of the house is shorter than the missed messages.
    static let countLimit = 8192
    static let byteLimit = 2 << 20

    private let countLimit: Int
    private let byteLimit: Int
    private var messages: Deque<Message> = []
    private(set) var bytes = 0
    /// The number of the newest message; 0 before the first one.
    private(set) var newest: UInt64 = 0

    init(countLimit: Int = Self.countLimit, byteLimit: Int = Self.byteLimit) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    var count: Int { messages.count }

    /// Appends a message.
    ///
    /// - Parameter encode: returns the message for the given number.
    mutating func append(_ encode: (UInt64) -> Message) {
        newest += 1
        let message = encode(newest)
        messages.append(message)
        bytes += message.bytes
        // The newest message is kept, even if it exceeds the limit of bytes.
        while messages.count > countLimit || bytes > byteLimit && messages.count > 1 {
            bytes -= messages.removeFirst().bytes
        }
    }

    /// Counts messages without storing them. A reader that needs one of these messages or an earlier one has fallen
    /// behind.
    mutating func skip(_ count: Int) {
        newest += UInt64(count)
        messages = []
        bytes = 0
    }

    /// Returns the messages that follow a number: at least one, and as many as fit in `limit` bytes. Messages for
    /// owners only are left out for others, so the result may be empty.
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
