import PlugModel

/// Event numbers of plugs as text, `ID NUMBER` a line, that of the plug heard of last at the end.
struct CursorList {
    /// Plugs at most; the one that was not heard of for longest is forgotten. Stops the file from growing with every plug that
    /// was ever seen.
    static let limit = 1024
    /// Of a file: no line is longer than 34 bytes. Stops a file that is none of ours from filling the memory.
    static let byteLimit = 64 * limit

    private var lines: [(plug: PlugID, sequence: SequenceNumber)] = []

    /// What cannot be read is left out: a plug that is forgotten is followed from now on.
    init(_ bytes: [UInt8]) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard words.count == 2, let plug = PlugID(rawValue: String(decoding: words[0], as: UTF8.self)),
                let sequence = SequenceNumber(String(decoding: words[1], as: UTF8.self)), sequence <= Int64.max
            else { continue }
            set(sequence, of: plug)
        }
    }

    var numbers: [PlugID: SequenceNumber] { Dictionary(lines.map { ($0.plug, $0.sequence) }) { _, last in last } }

    var bytes: [UInt8] { lines.flatMap { Array("\($0.plug) \($0.sequence)\n".utf8) } }

    mutating func set(_ sequence: SequenceNumber, of plug: PlugID) {
        lines.removeAll { $0.plug == plug }
        lines.append((plug, sequence))
        if lines.count > Self.limit { lines.removeFirst() }
    }
}
