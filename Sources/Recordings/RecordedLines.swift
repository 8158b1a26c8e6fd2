/// The measurements in a file in the order of its lines, even if the time decreases, for example because a meter's
/// clock was set, because files were concatenated, or because an hour of local time occurs twice in autumn.
/// ``Recording`` is a recording whose time never decreases.
public struct RecordedLines: Hashable, Sendable {
    /// A measurement.
    public struct Line: Hashable, Sendable {
        /// The line number in the file, counted from 1.
        public var number: Int
        /// The time in milliseconds: since midnight before the first line if the recording has dates, otherwise since
        /// the recording's own zero.
        public var milliseconds: Int64
        /// Active power in tenths of a watt.
        public var deciwatts: Int32
    }

    /// The measurements: at least one, at most ``Recording/pointLimit``.
    public let lines: [Line]
    /// The local day of the first line, or nil for a recording without dates.
    public let day: CalendarDay?
    /// The number of lines in the file, including empty ones.
    public let count: Int
    /// The number of empty lines.
    public let empty: Int
    /// The line number of the first empty line, or nil if no line is empty.
    public let firstEmpty: Int?
    /// The line number of the header, or nil if the file has no header.
    public let header: Int?
    /// The number of lines that cannot be read.
    public let unreadable: Int
    /// The error of the first line that cannot be read, or nil if all lines can be read.
    public let firstFault: RecordingError?

    /// The maximum number of decreases of the time. A file with more is not a recording.
    public static let fallLimit = 10_000

    /// Reads the same formats as ``Recording/parse(_:)``, and allows the time to decrease. Unreadable lines are
    /// counted; if they outnumber the others, the first error is thrown.
    public static func parse(_ content: [UInt8]) throws(RecordingError) -> RecordedLines {
        try RecordedLines(csv: try XZ.plain(content), falls: fallLimit, isStrict: false)
    }

    /// Parses plain content.
    ///
    /// - Parameters:
    ///   - falls: the maximum number of decreases of the time.
    ///   - isStrict: true if an unreadable line is an error; false if it is counted.
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
    /// Returns the content of a file, decompressed if it is xz or gzip.
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

/// Text in UTF-16 with a byte order mark, as some spreadsheets save it.
private enum UTF16Text {
    static func plain(_ content: [UInt8]) throws(RecordingError) -> [UInt8] {
        let isLittle = content.starts(with: [0xFF, 0xFE])
        guard isLittle || content.starts(with: [0xFE, 0xFF]) else { return content }
        guard content.count.isMultiple(of: 2), content.count <= 2 * Recording.byteLimit else {
            throw RecordingError(
                found: "\(content.count) bytes of UTF-16",
                expected: "an even number, at most \(2 * Recording.byteLimit)")
        }
        // A recording needs only ASCII characters. Any other character is replaced by a question mark.
        return stride(from: 2, to: content.count, by: 2).map { index in
            let (low, high) = isLittle ? (content[index], content[index + 1]) : (content[index + 1], content[index])
            return high == 0 && low < 0x80 ? low : 0x3F
        }
    }
}
