/// The lines of a recording in their order, even if their times decrease: a meter's clock may be set, files may be concatenated,
/// and in autumn an hour of local time occurs twice. ``Recording`` requires times that never decrease.
public struct RecordedLines: Hashable, Sendable {
    public struct Line: Hashable, Sendable {
        /// The line number in the file, counted from 1.
        public var number: Int
        /// Milliseconds since midnight before the first line if the recording has dates, otherwise since its own zero.
        public var milliseconds: Int64
        /// Active power in tenths of a watt.
        public var deciwatts: Int32
    }

    /// The lines with content, at least one and at most ``Recording/pointLimit``.
    public let lines: [Line]
    /// The local day of the first line; nil for a recording without dates.
    public let day: CalendarDay?
    /// The number of lines in the file, including empty ones.
    public let count: Int
    /// The first empty line.
    public let firstEmpty: Int?

    /// The limit of decreasing times per file. A file with more is not a recording.
    public static let fallLimit = 10_000

    /// Reads the same files as ``Recording/parse(_:)``, even if their time decreases.
    public static func parse(_ content: [UInt8]) throws(RecordingError) -> RecordedLines {
        try RecordedLines(csv: try XZ.plain(content), falls: fallLimit)
    }

    /// - Parameter falls: the allowed number of decreasing times.
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
    /// Returns the content of a recording's file, decompressed if necessary.
    static func plain(_ content: [UInt8]) throws(RecordingError) -> [UInt8] {
        guard recognises(content) else { return content }
        do { return try decompress(content, limit: Recording.byteLimit) } catch {
            throw RecordingError(found: "\(error)", expected: "xz-compressed lines of time and watts")
        }
    }
}
