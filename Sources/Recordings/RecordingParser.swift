extension Recording {
    /// The limit of a file in bytes, also after decompression. A year at one sample per second exceeds it, but recordings are
    /// for playback, not for archiving.
    public static let byteLimit = 64 << 20
    static let lineLimit = 200

    /// Reads a recording from a file's content, plain or xz. The first line determines one of two formats. Both have no header,
    /// use the separator `;` or `,`, and allow quoted fields (RFC 4180):
    ///
    /// - `dd/mm/yyyy HH:MM:SS;P1;P8`: local time; P1 is watts averaged over 1 s and is used, P8 (over 8 s) is optional.
    /// - `seconds,watts`: seconds since the recording's beginning.
    ///
    /// Empty lines are skipped. Power is rounded to 0.1 W, time to 1 ms. The time must not decrease.
    public static func parse(_ content: [UInt8]) throws(RecordingError) -> Recording {
        try parse(csv: try XZ.plain(content))
    }

    /// Reads a recording from plain content.
    public static func parse(csv: [UInt8]) throws(RecordingError) -> Recording {
        let recorded = try RecordedLines(csv: csv, falls: 0)
        let points = recorded.lines.map { Point(milliseconds: $0.milliseconds, deciwatts: $0.deciwatts) }
        return Recording(checked: points, day: recorded.day)
    }
}

/// Parses lines.
struct RecordingParser {
    static let plainForm = "seconds,watts"
    static let datedForm = "dd/mm/yyyy HH:MM:SS;watts;watts"

    private(set) var lines: [RecordedLines.Line] = []
    private(set) var day: CalendarDay?
    /// The remaining number of allowed decreases of the time.
    private var falls: Int

    init(falls: Int) { self.falls = falls }

    mutating func add(_ line: ArraySlice<UInt8>, _ number: Int) throws(RecordingError) {
        guard line.count <= Recording.lineLimit else {
            throw RecordingError(
                line: number, found: "\(line.count) bytes", expected: "at most \(Recording.lineLimit) in a line")
        }
        guard lines.count < Recording.pointLimit else {
            throw RecordingError(line: number, found: "another point", expected: "at most \(Recording.pointLimit)")
        }
        let isDated = lines.isEmpty ? line.contains(UInt8(ascii: "/")) : day != nil
        let fields = try fields(of: line, number)
        guard fields.count == 2 || isDated && fields.count == 3 else {
            throw RecordingError(
                line: number, quoting: line, expected: "`\(isDated ? Self.datedForm : Self.plainForm)`")
        }
        let time = isDated ? try datedTime(fields[0], number) : try seconds(fields[0], number)
        let deciwatts = try watts(fields[1], number)
        if fields.count == 3 { _ = try watts(fields[2], number) }
        if let last = lines.last, time < last.milliseconds { try fall(fields[0], number) }
        lines.append(RecordedLines.Line(number: number, milliseconds: time, deciwatts: deciwatts))
    }

    private mutating func fall(_ field: ArraySlice<UInt8>, _ line: Int) throws(RecordingError) {
        guard falls == 0 else {
            falls -= 1
            return
        }
        throw RecordingError(
            line: line, quoting: field, expected: "a time that is not before that of the line above")
    }

    /// Splits a line (RFC 4180): a quoted field may contain separators and doubled quotes.
    private func fields(
        of line: ArraySlice<UInt8>, _ number: Int
    ) throws(RecordingError) -> [ArraySlice<UInt8>] {
        let quote = UInt8(ascii: "\"")
        guard line.contains(quote) else {
            return line.split(omittingEmptySubsequences: false, whereSeparator: isSeparator)
        }
        var fields: [ArraySlice<UInt8>] = []
        var rest = line
        while true {
            if rest.first == quote {
                var field: [UInt8] = []
                var isOpen = true
                rest = rest.dropFirst()
                while isOpen, let end = rest.firstIndex(of: quote) {
                    field += rest[..<end]
                    rest = rest[(end + 1)...]
                    isOpen = rest.first == quote
                    guard isOpen else { break }
                    field.append(quote)
                    rest = rest.dropFirst()
                }
                guard !isOpen, rest.first.map(isSeparator) ?? true else {
                    throw RecordingError(
                        line: number, quoting: line, expected: "a quote that ends where its field does")
                }
                fields.append(field[...])
            } else {
                let end = rest.firstIndex(where: isSeparator) ?? rest.endIndex
                fields.append(rest[..<end])
                rest = rest[end...]
            }
            guard !rest.isEmpty else { return fields }
            rest = rest.dropFirst()
        }
    }

    private func seconds(_ field: ArraySlice<UInt8>, _ line: Int) throws(RecordingError) -> Int64 {
        // The limit is ten years; larger values indicate a different kind of file, such as one with Unix times.
        guard let seconds = decimal(field), (0...315_360_000).contains(seconds) else {
            throw RecordingError(line: line, quoting: field, expected: "seconds since the beginning, 0 to 315360000")
        }
        return Int64((seconds * 1000).rounded())
    }

    private func watts(_ field: ArraySlice<UInt8>, _ line: Int) throws(RecordingError) -> Int32 {
        guard let watts = decimal(field), abs(watts) <= 100_000 else {
            throw RecordingError(line: line, quoting: field, expected: "watts as a number, -100000 to 100000")
        }
        return Int32((watts * 10).rounded())
    }

    private mutating func datedTime(_ field: ArraySlice<UInt8>, _ line: Int) throws(RecordingError) -> Int64 {
        let template = Array("00/00/0000 00:00:00".utf8)
        let hasForm =
            field.count == template.count
            && zip(field, template).allSatisfy { isDigit($0) == isDigit($1) && (isDigit($0) || $0 == $1) }
        let parts = hasForm ? field.split(whereSeparator: { !isDigit($0) }).map(wholeNumber) : []
        guard hasForm, let date = CalendarDay(year: parts[2], month: parts[1], day: parts[0]), parts[3] < 24,
            parts[4] < 60, parts[5] < 60
        else { throw RecordingError(line: line, quoting: field, expected: "a day and time as dd/mm/yyyy HH:MM:SS") }
        let first = day ?? date
        day = first
        let days = date.number - first.number
        return Int64(((days * 24 + parts[3]) * 60 + parts[4]) * 60 + parts[5]) * 1000
    }
}

private func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") }

private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

/// Returns the value of the digits. The caller has checked that all bytes are digits.
private func wholeNumber(_ digits: ArraySlice<UInt8>) -> Int { digits.reduce(0) { $0 * 10 + Int($1) - 0x30 } }

/// Parses a decimal number without exponent, with optional surrounding blanks.
private func decimal(_ field: ArraySlice<UInt8>) -> Double? {
    let trimmed = field.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }.reversed()
    guard trimmed.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }) else { return nil }
    return Double(String(decoding: trimmed, as: UTF8.self))
}
