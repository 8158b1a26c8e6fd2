import HouseCalendar
import PlugModel
import ProtocolCore
import Recordings
import TestSupport
import Testing

@testable import PowerHistory

@Suite struct PlacedRecordingTests {
    private func placed(_ text: String, zone: ZoneOffsets = MadeUpRecording.europe) throws -> PlacedRecording {
        try #require(PlacedRecording(RecordedLines.parse(Array(text.utf8)), zone: zone))
    }

    private func isWhole(_ recording: PlacedRecording) -> Bool {
        recording.lines == recording.samples.count + recording.leftOut.values.reduce(0) { $0 + $1.lines }
    }

    @Test("The hour that the clock repeats in autumn has the samples of both passes")
    func theHourThatComesTwiceIsThereTwice() throws {
        let times = Array(
            stride(from: MadeUpRecording.autumn - 3_600_000, to: MadeUpRecording.autumn + 3_600_000, by: 10_000))
        let recording = try placed(times.map { "\(MadeUpRecording.local($0));60" }.joined(separator: "\n"))
        #expect(recording.samples.map(\.milliseconds) == times)
        #expect(recording.leftOut.isEmpty && recording.stepsBack.isEmpty)
    }

    @Test("Lines in the hour that does not exist in spring are left out and counted")
    func theHourThatDoesNotExistIsCounted() throws {
        // The clock of this recording is not set forward. The recording begins at half past one and lasts two hours.
        let first = MadeUpRecording.spring - 1_800_000
        let times = stride(from: first, to: first + 7_200_000, by: 10_000)
        let recording = try placed(times.map { "\(MadeUpRecording.text($0 + 3_600_000));60" }.joined(separator: "\n"))
        #expect(recording.lines == 720 && recording.samples.count == 360 && isWhole(recording))
        #expect(recording.leftOut == [.noSuchTime: .init(lines: 360, first: 181)])
    }

    @Test("A step back in time begins a segment, and lines within the time of an earlier segment are left out")
    func aStepBackBeginsASegmentAndTheEarlierOneCounts() throws {
        let recording = try placed(
            """
            21/01/2026 10:00:00;1
            21/01/2026 10:00:10;2
            21/01/2026 10:00:05;3

            21/01/2026 10:00:10;4
            21/01/2026 10:00:15;5
            20/01/2026 23:00:00;6
            20/01/2026 23:00:00;7
            21/01/2026 10:00:12;8
            """)
        #expect(recording.samples.map(\.line) == [8, 1, 2, 9, 6])
        #expect(recording.samples.map(\.deciwatts) == [70, 10, 20, 80, 50])
        #expect(recording.stepsBack.map(\.line) == [3, 7])
        #expect(recording.stepsBack.map { $0.from - $0.to } == [5000, 11 * 3_600_000 + 15_000])
        #expect(
            recording.leftOut == [
                .empty: .init(lines: 1, first: 4), .sameTime: .init(lines: 1, first: 7),
                .earlierSegment: .init(lines: 2, first: 3),
            ])
        #expect(isWhole(recording))
    }

    /// The third line steps back in time, so a segment begins there. The first segment has a pause of two hours.
    @Test("A later segment fills a pause of an earlier one") func aPauseIsFilledByALaterSegment() throws {
        let recording = try placed(
            "21/01/2026 10:00:00;1\n21/01/2026 12:00:00;2\n21/01/2026 11:00:00;3\n21/01/2026 12:00:00;4")
        #expect(recording.samples.map(\.deciwatts) == [10, 30, 20])
    }

    @Test("Every line is a sample at its time or is counted as left out", arguments: 0..<80)
    func everyLineIsASampleAtItsTimeOrCounted(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let made = MadeUpRecording(&random)
        let recording = try placed(made.text)
        #expect(isWhole(recording) && recording.lines == made.lines)
        #expect(recording.samples.allSatisfy { made.told[$0.line] == $0.milliseconds })
        #expect(recording.samples.allSatisfy { Int32($0.line % 1000) * 10 == $0.deciwatts })
        #expect(zip(recording.samples, recording.samples.dropFirst()).allSatisfy { $0.milliseconds < $1.milliseconds })
        #expect(recording.leftOut[.empty]?.lines ?? 0 == made.empty)
        #expect(recording.leftOut[.noSuchTime]?.lines ?? 0 == made.impossible)
        #expect(recording.stepsBack.map(\.line) == made.falls)
        // The time of each line, even of a line that is left out, is at most ten minutes (`pause`) after that of a
        // sample.
        let times = CoveredTimes(recording.samples.map { $0.milliseconds...$0.milliseconds + PlacedRecording.pause })
        #expect(made.told.values.allSatisfy { times.contains($0) })
        if made.falls.isEmpty { #expect(recording.leftOut[.earlierSegment] == nil) }
    }

    @Test("Stored samples stay, and an import adds only the others", arguments: 0..<20)
    func whatTheHistoryHasStaysAndTheRestIsAdded(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let directory = TestFolder(on: .memory)
        let history = try PowerHistory(directory.path, role: .writer)
        var expected: [Int64: Int32] = [:]
        for round in 0..<4 {
            // The second recording equals the first.
            var again = SeededRandom(seed: seed &+ 1000)
            let made = round < 2 ? MadeUpRecording(&again) : MadeUpRecording(&random)
            var recording = try placed(made.text)
            recording.leaveOut(try history.knownTimes(of: lamp, in: #require(recording.span)))
            #expect(isWhole(recording) && (round != 1 || recording.samples.isEmpty))
            for batch in RecordedHistory(recording, of: lamp).batches { try history.record(batch) }
            for sample in recording.filled() {
                #expect(expected.updateValue(sample.deciwatts, forKey: sample.milliseconds) == nil)
            }
            var found: [Int64: Int32] = [:]
            try history.samples(of: lamp, from: 0, to: .max) { found[$0] = $1.deciwatts }
            #expect(found == expected)
        }
    }
}

/// Recordings with a line per minute or hour.
@Suite struct SlowRecordingTests {
    private func placed(_ lines: [String]) throws -> PlacedRecording {
        let recorded = try RecordedLines.parse(Array(lines.joined(separator: "\n").utf8))
        return try #require(PlacedRecording(recorded, zone: MadeUpRecording.europe))
    }

    @Test("The energy of a recording with a line per 1, 15 or 60 minutes is correct", arguments: [60, 900, 3600])
    func energyOfSlowRecording(pace: Int) throws {
        let directory = TestFolder(on: .memory)
        let history = try PowerHistory(directory.path, role: .writer)
        let count = 7200 / pace + 1
        let recorded = try RecordedLines.parse(Array((0..<count).map { "\($0 * pace),100\n" }.joined().utf8))
        let recording = try #require(PlacedRecording(recorded, start: midnight, zone: MadeUpRecording.europe))
        #expect(recording.samples.count == count && recording.isFilled && !recording.isTooSlow)
        for batch in RecordedHistory(recording, of: lamp).batches { try history.record(batch) }
        let hours = try history.summaries(of: lamp, step: .hour, from: midnight, to: midnight + 7_200_000 - 1)
        #expect(abs(hours.reduce(0) { $0 + $1.milliwattHours } - 200_000) < 1)
        #expect(hours.reduce(0) { $0 + $1.coveredMilliseconds } == 7_200_000)
    }

    @Test("No samples are added between lines that are a second or a day apart, and a line per day is too slow")
    func otherPaces() throws {
        let fast = try placed((0..<10).map { "20/11/2026 07:00:0\($0);5" })
        #expect(!fast.isFilled && !fast.isTooSlow && fast.filled().count == 10)
        let slow = try placed((10..<20).map { "\($0)/11/2026 07:00:00;5" })
        #expect(!slow.isFilled && slow.isTooSlow && slow.filled().count == 10)
    }

    @Test("Hourly lines keep both passes of the repeated hour")
    func hourlyInAutumn() throws {
        let hours = ["00", "01", "02", "02", "03", "04"]
        let recording = try placed(hours.map { "25/10/2026 \($0):00:00;5" })
        #expect(recording.samples.count == 6 && recording.leftOut.isEmpty && recording.stepsBack.isEmpty)
        let gaps = zip(recording.samples, recording.samples.dropFirst()).map { $1.milliseconds - $0.milliseconds }
        #expect(gaps == Array(repeating: 3_600_000, count: 5))
    }
}
