import PlugModel

/// A list of the last event number of each plug, as text with one line `ID NUMBER` per plug. The most recently updated
/// plug is at the end.
struct CursorList {
    /// The maximum number of plugs. The plug that was not updated for the longest time is removed first. The limit
    /// prevents the file from growing with every plug that was ever seen.
    static let limit = 1024
    /// The maximum size of the file in bytes (no line is longer than 33 bytes). The limit prevents a foreign file from
    /// filling the memory.
    static let byteLimit = 64 * limit

    private var lines: [(plug: PlugID, sequence: SequenceNumber)] = []

    /// Parses the file and skips invalid lines.
    init(_ bytes: [UInt8]) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard words.count == 2, let plug = PlugID(rawValue: String(decoding: words[0], as: UTF8.self)),
                let sequence = SequenceNumber(String(decoding: words[1], as: UTF8.self)), sequence <= Int64.max
            else { continue }
            set(sequence, of: plug)
        }
    }

    /// The last stored event number of each plug.
    var numbers: [PlugID: SequenceNumber] { Dictionary(lines.map { ($0.plug, $0.sequence) }) { _, last in last } }

    /// The text of the file.
    var bytes: [UInt8] { lines.flatMap { Array("\($0.plug) \($0.sequence)\n".utf8) } }

    /// Moves the plug to the end of the list with a new event number.
    mutating func set(_ sequence: SequenceNumber, of plug: PlugID) {
        lines.removeAll { $0.plug == plug }
        lines.append((plug, sequence))
        if lines.count > Self.limit { lines.removeFirst() }
    }
}
