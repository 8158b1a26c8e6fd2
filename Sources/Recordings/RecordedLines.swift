/// What each line of a recording says, in the order of the lines, whatever their times do: the clock of a meter is set, files
/// are put together, and in autumn an hour of local time comes twice. ``Recording`` is one whose time never falls.
public struct RecordedLines: Hashable, Sendable {
    public struct Line: Hashable, Sendable {
        /// In the file, counted from 1.
        public var number: Int
        /// Since midnight before the first line where the recording has dates, since its own zero otherwise.
        public var milliseconds: Int64
        /// Active power in tenths of a watt.
        public var deciwatts: Int32
    }

    /// Those that say something, at least one and at most ``Recording/pointLimit``.
    public let lines: [Line]
    /// The local day of the first; nil for a recording without dates.
    public let day: CalendarDay?
    /// Lines of the file, with those that are empty.
    public let count: Int
    /// The first line that is empty.
    public let firstEmpty: Int?

    /// How often the time may fall in a file: more is no recording but lines in no order.
    public static let fallLimit = 10_000

    /// Reads the same files as ``Recording/parse(_:)``, also where their time falls.
    public static func parse(_ content: [UInt8]) throws(RecordingError) -> RecordedLines {
        try RecordedLines(csv: try XZ.plain(content), falls: fallLimit)
    }

    /// - Parameter falls: how often the time may fall.
    init(csv: [UInt8], falls: Int) throws(RecordingError) {
        guard csv.count <= Recording.byteLimit else {
            throw RecordingError(found: "\(csv.count) bytes", expected: "at most \(Recording.byteLimit)")
        }
        var parser = RecordingParser(falls: falls)
        var (number, empty) = (0, Int?.none)
        var rest = csv[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            var line = rest[rest.startIndex..<end]
            rest = rest[min(end + 1, rest.endIndex)...]
            number += 1
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            if line.isEmpty { empty = empty ?? number } else { try parser.add(line, number) }
        }
        guard !parser.lines.isEmpty else {
            throw RecordingError(
                found: "no lines", expected: "`\(RecordingParser.plainForm)` or `\(RecordingParser.datedForm)`")
        }
        (lines, day, count, firstEmpty) = (parser.lines, parser.day, number, empty)
    }
}

extension XZ {
    /// What a recording's file holds, unpacked where it is compressed.
    static func plain(_ content: [UInt8]) throws(RecordingError) -> [UInt8] {
        guard recognises(content) else { return content }
        do { return try decompress(content, limit: Recording.byteLimit) } catch {
            throw RecordingError(found: "\(error)", expected: "xz-compressed lines of time and watts")
        }
    }
}
