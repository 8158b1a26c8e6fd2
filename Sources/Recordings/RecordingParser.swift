extension Recording {
    /// The largest file, and the most that may come out of a compressed one (a year of days at one sample a second is more;
    /// a recording is played, not archived).
    public static let byteLimit = 64 << 20
    static let lineLimit = 200

    /// Reads a recording from a file's content, plain or xz. Two formats are known, told apart by the first line, both
    /// without a header, separated by `;` or `,`:
    ///
    /// - `dd/mm/yyyy HH:MM:SS;P1;P8`: local time; P1 is watts averaged over 1 s and is used, P8 (over 8 s) may be absent.
    /// - `seconds,watts`: seconds since the recording's beginning.
    ///
    /// Empty lines are skipped. Power is rounded to 0.1 W, time to 1 ms; time may stand still, but never falls.
    public static func parse(_ content: [UInt8]) throws(RecordingError) -> Recording {
        guard XZ.recognises(content) else { return try parse(csv: content) }
        let csv: [UInt8]
        do { csv = try XZ.decompress(content, limit: byteLimit) } catch {
            throw RecordingError(found: "\(error)", expected: "xz-compressed lines of time and watts")
        }
        return try parse(csv: csv)
    }

    /// The same for content that is known to be plain.
    public static func parse(csv: [UInt8]) throws(RecordingError) -> Recording {
        guard csv.count <= byteLimit else {
            throw RecordingError(found: "\(csv.count) bytes", expected: "at most \(byteLimit)")
        }
        var parser = RecordingParser()
        var number = 0
        var rest = csv[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            var line = rest[rest.startIndex..<end]
            rest = rest[min(end + 1, rest.endIndex)...]
            number += 1
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            if !line.isEmpty { try parser.add(line, number) }
        }
        guard !parser.points.isEmpty else {
            throw RecordingError(
                found: "no lines", expected: "`\(RecordingParser.plainForm)` or `\(RecordingParser.datedForm)`")
        }
        return Recording(checked: parser.points, day: parser.day)
    }
}

/// Turns lines into points.
private struct RecordingParser {
    static let plainForm = "seconds,watts"
    static let datedForm = "dd/mm/yyyy HH:MM:SS;watts;watts"

    private(set) var points: [Recording.Point] = []
    private(set) var day: CalendarDay?

    mutating func add(_ line: ArraySlice<UInt8>, _ number: Int) throws(RecordingError) {
        guard line.count <= Recording.lineLimit else {
            throw RecordingError(
                line: number, found: "\(line.count) bytes", expected: "at most \(Recording.lineLimit) in a line")
        }
        guard points.count < Recording.pointLimit else {
            throw RecordingError(line: number, found: "another point", expected: "at most \(Recording.pointLimit)")
        }
        let isDated = points.isEmpty ? line.contains(UInt8(ascii: "/")) : day != nil
        let fields = line.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",") }
        guard fields.count == 2 || isDated && fields.count == 3 else {
            throw RecordingError(
                line: number, quoting: line, expected: "`\(isDated ? Self.datedForm : Self.plainForm)`")
        }
        let time = isDated ? try datedTime(fields[0], number) : try seconds(fields[0], number)
        let deciwatts = try watts(fields[1], number)
        if fields.count == 3 { _ = try watts(fields[2], number) }
        if let last = points.last, time < last.milliseconds {
            throw RecordingError(
                line: number, quoting: fields[0], expected: "a time that is not before that of the line above")
        }
        points.append(Recording.Point(milliseconds: time, deciwatts: deciwatts))
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

private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

/// The number that digits make; what is no digit was excluded before.
private func wholeNumber(_ digits: ArraySlice<UInt8>) -> Int { digits.reduce(0) { $0 * 10 + Int($1) - 0x30 } }

/// A decimal number as people write it, without exponent, blanks around it allowed.
private func decimal(_ field: ArraySlice<UInt8>) -> Double? {
    let trimmed = field.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }.reversed()
    guard trimmed.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }) else { return nil }
    return Double(String(decoding: trimmed, as: UTF8.self))
}
