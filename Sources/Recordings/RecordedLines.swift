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
    /// Lines that are empty, and the first.
    public let empty: Int
    public let firstEmpty: Int?
    /// The line that names the columns.
    public let header: Int?
    /// Lines that cannot be read, and why the first one cannot.
    public let unreadable: Int
    public let firstFault: RecordingError?

    /// How often the time may fall in a file: more is no recording but lines in no order.
    public static let fallLimit = 10_000

    /// Reads the same files as ``Recording/parse(_:)``, also if their time falls. Lines that cannot be read are counted, unless they are
    /// more than the others.
    public static func parse(_ content: [UInt8]) throws(RecordingError) -> RecordedLines {
        try RecordedLines(csv: try XZ.plain(content), falls: fallLimit, isStrict: false)
    }

    /// - Parameters:
    ///   - falls: how often the time may fall.
    ///   - isStrict: a line that cannot be read is an error.
    init(csv content: [UInt8], falls: Int, isStrict: Bool) throws(RecordingError) {
        let csv = try UTF16Text.plain(content)
        guard csv.count <= Recording.byteLimit else {
            throw RecordingError(found: "\(csv.count) bytes", expected: "at most \(Recording.byteLimit)")
        }
        var parser = RecordingParser(falls: falls)
        var (number, empty, firstEmpty) = (0, 0, Int?.none)
        var (header, unreadable, firstFault) = (Int?.none, 0, RecordingError?.none)
        var rest = csv[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            var line = rest[rest.startIndex..<end]
            rest = rest[min(end + 1, rest.endIndex)...]
            number += 1
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
                empty += 1
                firstEmpty = firstEmpty ?? number
                continue
            }
            if header == nil, unreadable == 0, parser.lines.isEmpty, RecordingParser.isHeader(line) {
                header = number
                continue
            }
            do throws(RecordingError) { try parser.add(line, number) } catch {
                if isStrict || error.endsFile { throw error }
                unreadable += 1
                firstFault = firstFault ?? error
            }
        }
        if let firstFault, unreadable > parser.lines.count { throw firstFault }
        guard !parser.lines.isEmpty else {
            throw RecordingError(
                found: "no lines", expected: "`\(RecordingParser.plainForm)` or `\(RecordingParser.datedForm)`")
        }
        (lines, day, count) = (parser.lines, parser.day, number)
        (self.empty, self.firstEmpty, self.header) = (empty, firstEmpty, header)
        (self.unreadable, self.firstFault) = (unreadable, firstFault)
    }
}

extension XZ {
    /// The content of a recording's file, unpacked if it is compressed.
    static func plain(_ content: [UInt8]) throws(RecordingError) -> [UInt8] {
        if GZip.recognises(content) {
            do { return try GZip.decompress(content, limit: Recording.byteLimit) } catch {
                throw RecordingError(found: "\(error)", expected: "gzip-compressed lines of time and watts")
            }
        }
        guard recognises(content) else { return content }
        do { return try decompress(content, limit: Recording.byteLimit) } catch {
            throw RecordingError(found: "\(error)", expected: "xz-compressed lines of time and watts")
        }
    }
}

/// Text in UTF-16 with a byte order mark, as spreadsheets save it.
private enum UTF16Text {
    static func plain(_ content: [UInt8]) throws(RecordingError) -> [UInt8] {
        let isLittle = content.starts(with: [0xFF, 0xFE])
        guard isLittle || content.starts(with: [0xFE, 0xFF]) else { return content }
        guard content.count.isMultiple(of: 2), content.count <= 2 * Recording.byteLimit else {
            throw RecordingError(
                found: "\(content.count) bytes of UTF-16", expected: "whole characters, and fewer of them")
        }
        // All that a recording has is ASCII; a character beyond is never part of a number.
        return stride(from: 2, to: content.count, by: 2).map { index in
            let (low, high) = isLittle ? (content[index], content[index + 1]) : (content[index + 1], content[index])
            return high == 0 && low < 0x80 ? low : 0x3F
        }
    }
}
