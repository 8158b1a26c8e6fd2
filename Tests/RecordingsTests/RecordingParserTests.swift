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

    @Test func datedLinesCountFromMidnightOfTheFirstDay() throws {
        let recording = try parse(
            "21/01/2012 00:00:08;45;43\n21/01/2012 11:14:07;102;45\r\n\n21/01/2012 11:14:07;103;45\n22/01/2012 00:00:01;0;0"
        )
        #expect(recording.day == CalendarDay(year: 2012, month: 1, day: 21))
        #expect(recording.points.map(\.milliseconds) == [8_000, 40_447_000, 40_447_000, 86_401_000])
        #expect(recording.points.map(\.deciwatts) == [450, 1020, 1030, 0])
    }

    @Test func plainLinesCountFromTheirOwnZero() throws {
        let recording = try parse("\u{FEFF}0.5,10\n2;20.25\n 3.0004 , -1.04 \n")
        #expect(recording.day == nil)
        #expect(recording.points.map(\.milliseconds) == [500, 2000, 3000])
        #expect(recording.points.map(\.deciwatts) == [100, 203, -10])
    }

    @Test func fieldsMayStandInQuotes() throws {
        let recording = try parse("\"21/01/2012 00:00:08\";\"45\";\"43\"\r\n21/01/2012 00:00:09,\"46\"")
        #expect(recording.day == CalendarDay(year: 2012, month: 1, day: 21))
        #expect(recording.points.map(\.milliseconds) == [8_000, 9_000])
        #expect(recording.points.map(\.deciwatts) == [450, 460])
        #expect(try points("\"1\",\" 2.5 \"").map(\.deciwatts) == [25])
    }

    @Test func linesAreReadWhateverTheirTimesDo() throws {
        let recorded = try RecordedLines.parse(Array("21/01/2012 00:00:08;45\n\n20/01/2012 23:00:00;1\n\n".utf8))
        #expect(recorded.lines.map(\.number) == [1, 3])
        #expect(recorded.lines.map(\.milliseconds) == [8_000, -3_600_000])
        #expect(recorded.count == 4 && recorded.firstEmpty == 2)
        // But not lines in no order at all.
        let descending = (0...RecordedLines.fallLimit + 1).reversed().map { "\($0),1" }.joined(separator: "\n")
        #expect(throws: RecordingError.self) { try RecordedLines.parse(Array(descending.utf8)) }
        let ordered = descending.split(separator: "\n").dropFirst().joined(separator: "\n")
        #expect(try RecordedLines.parse(Array(ordered.utf8)).lines.count == RecordedLines.fallLimit + 1)
    }

    @Test(arguments: [
        ("", nil, "found no lines, expected `seconds,watts` or `dd/mm/yyyy HH:MM:SS;watts;watts`"),
        ("\n\r\n", nil, "found no lines, expected `seconds,watts` or `dd/mm/yyyy HH:MM:SS;watts;watts`"),
        ("seconds,watts\n0,1", 1, "line 1: found \"seconds\", expected seconds since the beginning, 0 to 315360000"),
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
            "21/01/2012 00:00:00;1;1\n7,3", 2,
            "line 2: found \"7\", expected a day and time as dd/mm/yyyy HH:MM:SS"
        ),
        ("\"0,1", 1, "line 1: found \"\"0,1\", expected a quote that ends where its field does"),
        ("\"0\"5,1", 1, "line 1: found \"\"0\"5,1\", expected a quote that ends where its field does"),
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

    @Test func longLinesAreRefusedAndLongQuotesCut() throws {
        #expect(
            failure(of: "0,1\n" + String(repeating: "9", count: 201))?.description
                == "line 2: found 201 bytes, expected at most 200 in a line")
        #expect(
            failure(of: String(repeating: "9", count: 200))?.description
                == "line 1: found \"\(String(repeating: "9", count: 40))...\", expected `seconds,watts`")
        #expect(failure(of: String(repeating: "9", count: 150) + "/9")?.line == 1)
    }

    @Test func aRecordingThatIsTooLongIsRefused() {
        let text = Array("0,0\n".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 * (Recording.pointLimit + 1))
        for _ in 0...Recording.pointLimit { bytes += text }
        #expect(throws: RecordingError.self) { try Recording.parse(bytes) }
    }
}
