import Recordings
import Testing

func parse(_ text: String) throws(RecordingError) -> Recording { try Recording.parse(Array(text.utf8)) }

@Suite struct RecordingParserTests {
    private func points(_ text: String) throws -> [Recording.Point] { try parse(text).points }

    private func failure(of text: String) -> RecordingError? {
        do {
            _ = try parse(text)
            return nil
        } catch { return error }
    }

    @Test("Times of dated lines count from midnight of the first day")
    func datedLinesCountFromMidnightOfTheFirstDay() throws {
        let recording = try parse(
            "21/01/2012 00:00:08;45;43\n21/01/2012 11:14:07;102;45\r\n\n21/01/2012 11:14:07;103;45\n22/01/2012 00:00:01;0;0"
        )
        #expect(recording.day == CalendarDay(year: 2012, month: 1, day: 21))
        #expect(recording.points.map(\.milliseconds) == [8_000, 40_447_000, 40_447_000, 86_401_000])
        #expect(recording.points.map(\.deciwatts) == [450, 1020, 1030, 0])
    }

    @Test("Times of lines without dates count from zero") func plainLinesCountFromTheirOwnZero() throws {
        let recording = try parse("\u{FEFF}0.5,10\n2,20.25\n 3.0004 , -1.04 \n")
        #expect(recording.day == nil)
        #expect(recording.points.map(\.milliseconds) == [500, 2000, 3000])
        #expect(recording.points.map(\.deciwatts) == [100, 203, -10])
    }

    @Test("Fields may be in quotes") func fieldsMayStandInQuotes() throws {
        let recording = try parse("\"21/01/2012 00:00:08\";\"45\";\"43\"\r\n21/01/2012 00:00:09;\"46\"")
        #expect(recording.day == CalendarDay(year: 2012, month: 1, day: 21))
        #expect(recording.points.map(\.milliseconds) == [8_000, 9_000])
        #expect(recording.points.map(\.deciwatts) == [450, 460])
        #expect(try points("\"1\",\" 2.5 \"").map(\.deciwatts) == [25])
    }

    @Test("Lines are read even if their time steps back") func linesAreReadWhateverTheirTimesDo() throws {
        let recorded = try RecordedLines.parse(Array("21/01/2012 00:00:08;45\n\n20/01/2012 23:00:00;1\n\n".utf8))
        #expect(recorded.lines.map(\.number) == [1, 3])
        #expect(recorded.lines.map(\.milliseconds) == [8_000, -3_600_000])
        #expect(recorded.count == 4 && recorded.firstEmpty == 2)
        // A file with too many steps back is rejected.
        let descending = (0...RecordedLines.fallLimit + 1).reversed().map { "\($0),1" }.joined(separator: "\n")
        #expect(throws: RecordingError.self) { try RecordedLines.parse(Array(descending.utf8)) }
        let ordered = descending.split(separator: "\n").dropFirst().joined(separator: "\n")
        #expect(try RecordedLines.parse(Array(ordered.utf8)).lines.count == RecordedLines.fallLimit + 1)
    }

    @Test(
        "An error states the line, the text and what was expected",
        arguments: [
            ("", nil, "found no lines, expected `seconds,watts` or `dd/mm/yyyy HH:MM:SS;watts;watts`"),
            ("\n\r\n", nil, "found no lines, expected `seconds,watts` or `dd/mm/yyyy HH:MM:SS;watts;watts`"),
            ("seconds,watts\n", nil, "found no lines, expected `seconds,watts` or `dd/mm/yyyy HH:MM:SS;watts;watts`"),
            (
                "0,1\nseconds,watts", 2,
                "line 2: found \"seconds\", expected seconds since the beginning, 0 to 315360000"
            ),
            ("0,1\n1;2", 2, "line 2: found \"1;2\", expected `seconds,watts`"),
            ("0;1,5\n1;1.5", 2, "line 2: found \"1.5\", expected watts as a number, -100000 to 100000"),
            ("0;1.000,5", 1, "line 1: found \"1.000,5\", expected watts as a number, -100000 to 100000"),
            (
                "20/11/2026 07:00:00,12,5", 1,
                "line 1: found \"20/11/2026 07:00:00,12,5\", expected fields separated by `;`, "
                    + "because a `,` between numbers may be a decimal comma"
            ),
            ("20/11/9999 07:00:00;1", 1, "line 1: found \"20/11/9999 07:00:00\", expected a year from 1970 to 2200"),
            ("20/11/1969 07:00:00;1", 1, "line 1: found \"20/11/1969 07:00:00\", expected a year from 1970 to 2200"),
            ("0,1\n1", 2, "line 2: found \"1\", expected `seconds,watts`"),
            ("0,1\n1,2,3", 2, "line 2: found \"1,2,3\", expected `seconds,watts`"),
            ("0,1\n1,x", 2, "line 2: found \"x\", expected watts as a number, -100000 to 100000"),
            ("0,1\n\n1,nan", 3, "line 3: found \"nan\", expected watts as a number, -100000 to 100000"),
            ("0,1\n1,1e3", 2, "line 2: found \"1e3\", expected watts as a number, -100000 to 100000"),
            ("0,100001", 1, "line 1: found \"100001\", expected watts as a number, -100000 to 100000"),
            ("-1,0", 1, "line 1: found \"-1\", expected seconds since the beginning, 0 to 315360000"),
            ("5,0\n4.9,0", 2, "line 2: found \"4.9\", expected a time that is not before that of the line above"),
            (
                "21/01/2012 24:00:00;1;1", 1,
                "line 1: found \"21/01/2012 24:00:00\", expected a day and time as dd/mm/yyyy HH:MM:SS"
            ),
            (
                "30/02/2012 00:00:00;1;1", 1,
                "line 1: found \"30/02/2012 00:00:00\", expected a day and time as dd/mm/yyyy HH:MM:SS"
            ),
            (
                "1/1/2012 0:00:00;1;1", 1,
                "line 1: found \"1/1/2012 0:00:00\", expected a day and time as dd/mm/yyyy HH:MM:SS"
            ),
            ("21/01/2012 00:00:00;1;z", 1, "line 1: found \"z\", expected watts as a number, -100000 to 100000"),
            (
                "21/01/2012 00:00:00;1;1\n7;3", 2,
                "line 2: found \"7\", expected a day and time as dd/mm/yyyy HH:MM:SS"
            ),
            ("\"0,1", 1, "line 1: found \"\"0,1\", expected a quotation mark at the end of each quoted field"),
            ("\"0\"5,1", 1, "line 1: found \"\"0\"5,1\", expected a quotation mark at the end of each quoted field"),
            ("\"0\"\"\",1", 1, "line 1: found \"0\"\", expected seconds since the beginning, 0 to 315360000"),
            ("\"0,5\",1", 1, "line 1: found \"0,5\", expected seconds since the beginning, 0 to 315360000"),
            ("\"0\",\"1\",", 1, "line 1: found \"\"0\",\"1\",\", expected `seconds,watts`"),
            ("\u{1B}[2J\u{7}", 1, "line 1: found \"?[2J?\", expected `seconds,watts`"),
        ])
    func anErrorSaysWhereWhatAndWhatInstead(text: String, line: Int?, message: String) throws {
        let error = try #require(failure(of: text))
        #expect(error.line == line)
        #expect(error.description == message)
    }

    @Test("A decimal comma is read if the fields are separated by a semicolon or a tab", arguments: [";", "\t"])
    func decimalComma(separator: String) throws {
        let lines = ["20/11/2026 07:00:00", "20/11/2026 07:00:01"].enumerated().map { "\($1)\(separator)\($0 * 12),5" }
        let recording = try parse(lines.joined(separator: "\n"))
        #expect(recording.points.map(\.deciwatts) == [5, 125])
    }

    @Test(
        "A date is read in each usual order of day, month and year",
        arguments: ["20/11/2026 ", "20.11.2026 ", "2026-11-20 ", "2026-11-20T"])
    func dateForms(date: String) throws {
        for (time, milliseconds) in [("07:00:01", 25_201_000), ("07:01", 25_260_000)] {
            let recording = try parse("\(date)\(time);5")
            #expect(recording.day == CalendarDay(year: 2026, month: 11, day: 20))
            #expect(recording.points.map(\.milliseconds) == [Int64(milliseconds)])
        }
    }

    @Test("A header line and lines that cannot be read are counted, and the rest is imported")
    func badLines() throws {
        let text = "Time;Power\n2026-11-20 07:00;1\n2026-11-20 07:01;NaN\n   \n2026-11-20 07:02;3\n"
        let recorded = try RecordedLines.parse(Array(text.utf8))
        #expect(recorded.lines.map(\.deciwatts) == [10, 30] && recorded.count == 5)
        #expect(recorded.header == 1 && recorded.unreadable == 1 && recorded.firstEmpty == 4)
        #expect(
            recorded.firstFault?.description
                == "line 3: found \"NaN\", expected watts as a number, -100000 to 100000")
    }

    @Test("A file in which most lines are unreadable is refused, and the error names the first one")
    func mostlyBadLines() throws {
        let error = #expect(throws: RecordingError.self) { try RecordedLines.parse(Array("0,1\n1,x\n2,y\n".utf8)) }
        #expect(error?.line == 2)
    }

    @Test("UTF-16 with a byte order mark is read in both byte orders")
    func utf16() throws {
        let units = Array("\u{FEFF}2026-11-20 07:00;12,5\r\n".utf16)
        let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        #expect(try Recording.parse(little).points.map(\.deciwatts) == [125])
        #expect(try Recording.parse(big) == Recording.parse(little))
        #expect(throws: RecordingError.self) { try Recording.parse(little.dropLast()) }
    }

    @Test("A line that is too long is rejected, and an error quotes at most 40 characters of a line")
    func longLinesAreRefusedAndLongQuotesCut() throws {
        #expect(
            failure(of: "0,1\n" + String(repeating: "9", count: 201))?.description
                == "line 2: found 201 bytes, expected at most 200 in a line")
        #expect(
            failure(of: String(repeating: "9", count: 200))?.description
                == "line 1: found \"\(String(repeating: "9", count: 40))...\", expected `seconds,watts`")
        #expect(failure(of: String(repeating: "9", count: 150) + "/9")?.line == 1)
    }

    @Test("A recording with too many points is rejected") func aRecordingThatIsTooLongIsRefused() {
        let text = Array("0,0\n".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 * (Recording.pointLimit + 1))
        for _ in 0...Recording.pointLimit { bytes += text }
        #expect(throws: RecordingError.self) { try Recording.parse(bytes) }
    }
}
