extension Recording {
    /// The maximum size of a file, and of its decompressed content, in bytes. Recordings are for playback, not for
    /// archives.
    public static let byteLimit = 64 << 20
    static let lineLimit = 200

    /// Reads a recording from a file's content: plain, xz or gzip; UTF-8, or UTF-16 with a byte order mark. The first
    /// line determines one of two formats. Fields may be in quotes (RFC 4180). A first line with column names is
    /// skipped.
    ///
    /// - `dd/mm/yyyy HH:MM:SS;P1;P8`: local time, also written `dd.mm.yyyy`, `yyyy-mm-dd` or `yyyy-mm-ddT`, and without
    ///   seconds. P1, the power in watts averaged over 1 s, is the power of the point. P8, averaged over 8 s, is
    ///   optional; it must be a valid number but is not used.
    /// - `seconds,watts`: seconds since the start of the recording.
    ///
    /// A file has one separator, which the first line determines: `;`, a tab or `,`. Unless it is `,`, numbers may have
    /// a decimal comma. All numbers in a file have the same decimal sign.
    ///
    /// Empty lines are skipped. Power is rounded to 0.1 W and time to 1 ms. The time may stay the same but must not
    /// decrease.
    public static func parse(_ content: [UInt8]) throws(RecordingError) -> Recording {
        try parse(csv: try XZ.plain(content))
    }

    /// Reads a recording from plain, uncompressed content.
    public static func parse(csv: [UInt8]) throws(RecordingError) -> Recording {
        let recorded = try RecordedLines(csv: csv, falls: 0, isStrict: true)
        let points = recorded.lines.map { Point(milliseconds: $0.milliseconds, deciwatts: $0.deciwatts) }
        return Recording(checked: points, day: recorded.day)
    }
}

/// Parses lines of a recording.
struct RecordingParser {
    static let plainForm = "seconds,watts"
    static let datedForm = "dd/mm/yyyy HH:MM:SS;watts;watts"

    private(set) var lines: [RecordedLines.Line] = []
    private(set) var day: CalendarDay?
    /// The remaining number of permitted decreases of the time.
    private var falls: Int

    init(falls: Int) { self.falls = falls }

    /// The separator of the file, or nil before its first line.
    private var separator: UInt8?
    /// The decimal sign of the file, or nil before its first number with a fraction.
    private var decimalSign: UInt8?

    /// Returns true if a first line has column names: it has several fields and begins with a letter.
    static func isHeader(_ line: ArraySlice<UInt8>) -> Bool {
        let first = line.first { $0 != 0x20 && $0 != UInt8(ascii: "\"") }
        return line.contains(where: isSeparator) && first.map { isLetter($0) } ?? false
    }

    /// Adds a line. If it throws, the parser is unchanged.
    mutating func add(_ line: ArraySlice<UInt8>, _ number: Int) throws(RecordingError) {
        guard line.count <= Recording.lineLimit else {
            throw RecordingError(
                line: number, found: "\(line.count) bytes", expected: "at most \(Recording.lineLimit) in a line")
        }
        guard lines.count < Recording.pointLimit else {
            var error = RecordingError(
                line: number, found: "another point", expected: "at most \(Recording.pointLimit)")
            error.endsFile = true
            throw error
        }
        var next = self
        next.lines = []
        let added = try next.read(line, number, isFirst: lines.isEmpty)
        if let last = lines.last, added.line.milliseconds < last.milliseconds { try next.fall(added.time, number) }
        (separator, decimalSign, day, falls) = (next.separator, next.decimalSign, next.day, next.falls)
        lines.append(added.line)
    }

    private mutating func read(
        _ line: ArraySlice<UInt8>, _ number: Int, isFirst: Bool
    ) throws(RecordingError) -> (line: RecordedLines.Line, time: ArraySlice<UInt8>) {
        let used = separator ?? Self.separators.first(where: line.contains) ?? UInt8(ascii: ",")
        separator = used
        let isDated = isFirst ? line.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ":") } : day != nil
        let fields = try fields(of: line, number, used)
        guard fields.count == 2 || isDated && fields.count == 3 else {
            throw RecordingError(
                line: number, quoting: line, expected: "`\(isDated ? Self.datedForm : Self.plainForm)`")
        }
        guard fields.count == 2 || used != UInt8(ascii: ",") || line.contains(UInt8(ascii: "\"")) else {
            throw RecordingError(
                line: number, quoting: line,
                expected: "fields separated by `;`, because a `,` between numbers may be a decimal comma")
        }
        let time = isDated ? try datedTime(fields[0], number) : try seconds(fields[0], number)
        let deciwatts = try watts(fields[1], number)
        if fields.count == 3 { _ = try watts(fields[2], number) }
        return (RecordedLines.Line(number: number, milliseconds: time, deciwatts: deciwatts), fields[0])
    }

    private static let separators = [UInt8(ascii: ";"), 0x09, UInt8(ascii: ",")]

    private mutating func fall(_ field: ArraySlice<UInt8>, _ line: Int) throws(RecordingError) {
        guard falls == 0 else {
            falls -= 1
            return
        }
        var error = RecordingError(
            line: line, quoting: field, expected: "a time that is not before that of the line above")
        error.endsFile = true
        throw error
    }

    /// Splits a line into fields. A field in quotes may contain separators and doubled quotes (RFC 4180).
    private func fields(
        of line: ArraySlice<UInt8>, _ number: Int, _ separator: UInt8
    ) throws(RecordingError) -> [ArraySlice<UInt8>] {
        let quote = UInt8(ascii: "\"")
        func isSeparator(_ byte: UInt8) -> Bool { byte == separator }
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
                        line: number, quoting: line, expected: "a quotation mark at the end of each quoted field")
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

    private mutating func seconds(_ field: ArraySlice<UInt8>, _ line: Int) throws(RecordingError) -> Int64 {
        // The limit is ten years. Larger values are from other kinds of files, such as those with Unix times.
        guard let seconds = decimal(field), (0...315_360_000).contains(seconds) else {
            throw RecordingError(line: line, quoting: field, expected: "seconds since the beginning, 0 to 315360000")
        }
        return Int64((seconds * 1000).rounded())
    }

    private mutating func watts(_ field: ArraySlice<UInt8>, _ line: Int) throws(RecordingError) -> Int32 {
        guard let watts = decimal(field), abs(watts) <= 100_000 else {
            throw RecordingError(line: line, quoting: field, expected: "watts as a number, -100000 to 100000")
        }
        return Int32((watts * 10).rounded())
    }

    private static let dateForms: [(template: [UInt8], order: (year: Int, month: Int, day: Int))] = [
        (Array("00/00/0000".utf8), (2, 1, 0)), (Array("00.00.0000".utf8), (2, 1, 0)),
        (Array("0000-00-00".utf8), (0, 1, 2)),
    ]
    private static let timeForms = [" 00:00:00", "T00:00:00", " 00:00", "T00:00"].map { Array($0.utf8) }
    /// The range of plausible years.
    private static let years = 1970...2200

    private mutating func datedTime(_ field: ArraySlice<UInt8>, _ line: Int) throws(RecordingError) -> Int64 {
        let text = Array(trimmed(field))
        func fits(_ text: ArraySlice<UInt8>, _ template: [UInt8]) -> Bool {
            text.count == template.count
                && zip(text, template).allSatisfy { isDigit($0) == isDigit($1) && (isDigit($0) || $0 == $1) }
        }
        let form = Self.dateForms.first { fits(text.prefix($0.template.count), $0.template) }
        guard let form, Self.timeForms.contains(where: { fits(text.dropFirst(form.template.count), $0) }) else {
            throw RecordingError(line: line, quoting: field, expected: "a day and time as dd/mm/yyyy HH:MM:SS")
        }
        let parts = text.split(whereSeparator: { !isDigit($0) }).map(wholeNumber)
        guard Self.years.contains(parts[form.order.year]) else {
            throw RecordingError(
                line: line, quoting: field, expected: "a year from \(Self.years.lowerBound) to \(Self.years.upperBound)"
            )
        }
        let second = parts.count > 5 ? parts[5] : 0
        let date = CalendarDay(year: parts[form.order.year], month: parts[form.order.month], day: parts[form.order.day])
        guard let date, parts[3] < 24, parts[4] < 60, second < 60 else {
            throw RecordingError(line: line, quoting: field, expected: "a day and time as dd/mm/yyyy HH:MM:SS")
        }
        let first = day ?? date
        day = first
        let days = date.number - first.number
        return Int64(((days * 24 + parts[3]) * 60 + parts[4]) * 60 + second) * 1000
    }

    /// Parses a decimal number without exponent, with optional blanks around it. Returns nil for any other text, and
    /// for a different decimal sign than earlier in the file.
    private mutating func decimal(_ field: ArraySlice<UInt8>) -> Double? {
        var text = Array(trimmed(field))
        let signs = [UInt8(ascii: "."), UInt8(ascii: ",")]
        guard text.allSatisfy({ isDigit($0) || signs.contains($0) || $0 == UInt8(ascii: "-") }) else { return nil }
        if let place = text.firstIndex(where: signs.contains) {
            let sign = text[place]
            guard sign != separator, decimalSign == nil || decimalSign == sign else { return nil }
            decimalSign = sign
            text[place] = UInt8(ascii: ".")
            guard !text[(place + 1)...].contains(where: signs.contains) else { return nil }
        }
        return Double(String(decoding: text, as: UTF8.self))
    }
}

private func isSeparator(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") || byte == 0x09
}

private func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) || byte >= 0x80 }

private func trimmed(_ field: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var field = field.drop { $0 == 0x20 }
    while field.last == 0x20 { field = field.dropLast() }
    return field
}

private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

/// Returns the number of a sequence of digits.
private func wholeNumber(_ digits: ArraySlice<UInt8>) -> Int { digits.reduce(0) { $0 * 10 + Int($1) - 0x30 } }
