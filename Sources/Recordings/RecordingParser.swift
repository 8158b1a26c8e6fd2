extension Recording {
    /// The largest file, and the most that may come out of a compressed one (a year of days at one sample a second is more;
    /// a recording is played, not archived).
    public static let byteLimit = 64 << 20
    static let lineLimit = 200

    /// Reads a recording from a file's content, plain or xz. Two formats are known, told apart by the first line, both
    /// without a header, separated by `;` or `,`, each field with or without quotes (RFC 4180):
    ///
    /// - `dd/mm/yyyy HH:MM:SS;P1;P8`: local time; P1 is watts averaged over 1 s and is used, P8 (over 8 s) may be absent.
    /// - `seconds,watts`: seconds since the recording's beginning.
    ///
    /// Empty lines are skipped. Power is rounded to 0.1 W, time to 1 ms; time may stand still, but never falls.
    public static func parse(_ content: [UInt8]) throws(RecordingError) -> Recording {
        try parse(csv: try XZ.plain(content))
    }

    /// The same for content that is known to be plain.
    public static func parse(csv: [UInt8]) throws(RecordingError) -> Recording {
        let recorded = try RecordedLines(csv: csv, falls: 0)
        let points = recorded.lines.map { Point(milliseconds: $0.milliseconds, deciwatts: $0.deciwatts) }
        return Recording(checked: points, day: recorded.day)
    }
}

/// Turns lines into what they say.
struct RecordingParser {
    static let plainForm = "seconds,watts"
    static let datedForm = "dd/mm/yyyy HH:MM:SS;watts;watts"

    private(set) var lines: [RecordedLines.Line] = []
    private(set) var day: CalendarDay?
    /// How often the time may still fall.
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

    /// RFC 4180: a field in quotes may hold a separator, and a quote that is doubled.
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
        // Ten years; more is no recording but a file of something else, such as Unix times.
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

/// The number that digits make; what is no digit was excluded before.
private func wholeNumber(_ digits: ArraySlice<UInt8>) -> Int { digits.reduce(0) { $0 * 10 + Int($1) - 0x30 } }

/// A decimal number as people write it, without exponent, blanks around it allowed.
private func decimal(_ field: ArraySlice<UInt8>) -> Double? {
    let trimmed = field.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }.reversed()
    guard trimmed.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }) else { return nil }
    return Double(String(decoding: trimmed, as: UTF8.self))
}
