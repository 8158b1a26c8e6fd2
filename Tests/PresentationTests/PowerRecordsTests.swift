import Charting
import LinuxSystem
import Presentation
import Testing

@Suite struct PowerRecordsTests {
    private func points(_ count: Int, from: Double = 1_795_000_000) -> [ChartPoint] {
        (0..<count).map { ChartPoint(time: from + Double($0), value: Double($0 % 10)) }
    }

    private func records(_ kept: StoredPowerSeries, _ newer: [ChartPoint], columns: Int = 600) -> [SampleRecord] {
        SampleRecord.records(
            of: "Lamp", kept: kept, newer: newer, from: 1_795_000_000, to: 1_795_003_600, columns: columns)
    }

    @Test("Newer samples follow the stored ones without gaps and repetitions")
    func newerOnesFollowOnWhatIsKeptWithoutAHoleOrADoubling() {
        var kept = StoredPowerSeries()
        kept.points = points(100)
        kept.newest = 1_795_000_099
        let all = records(kept, points(150).map { ChartPoint(time: $0.time + 0.05, value: $0.value) })
        #expect(all.count == 150)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.at < $1.at })
        #expect(all[0].at == "2026-11-18T11:06:40.000Z" && all[0].minActivePower == nil)
    }

    @Test("More samples than columns become one record with mean, minimum and maximum per column")
    func moreThanADrawingShowsIsSummedUpByColumns() {
        var kept = StoredPowerSeries()
        kept.points = points(3600)
        let all = records(kept, [], columns: 60)
        // The columns begin at full minutes, unlike the span.
        #expect(all.count == 61 && all[0].at == "2026-11-18T11:06:00.000Z")
        #expect(all.allSatisfy { $0.minActivePower == 0 && $0.maxActivePower == 9 })
        #expect(all[1..<60].allSatisfy { $0.activePower == 4.5 && $0.covered == 60 })
    }

    @Test("A gap does not raise the mean above the measured power") func aHoleMakesNoMeanHigherThanWhatWasMeasured() {
        var kept = StoredPowerSeries()
        kept.points = points(3600).filter { !(1_795_001_000..<1_795_001_020).contains($0.time) }.map {
            ChartPoint(time: $0.time, value: 100)
        }
        let all = records(kept, [], columns: 600)
        #expect(all.count > 590)
        #expect(all.allSatisfy { $0.activePower == 100 && $0.covered ?? 0 <= 6 })
    }

    @Test("A time is parsed strictly") func aTimeIsReadStrictly() {
        let time = WallTime(iso8601: "2026-11-21T10:01:23.456+01:00")
        #expect(time?.iso8601() == "2026-11-21T09:01:23.456Z")
        #expect(WallTime(iso8601: "2026-11-21T09:01Z")?.iso8601() == "2026-11-21T09:01:00.000Z")
        #expect(WallTime(iso8601: "1999-12-31T23:59:59.999999999-23:59") != nil)
        for text in [
            "", "Z", "2026-11-21", "2026-11-21T09:01", "2026-11-21 09:01Z", "2026-11-21T09:01:00.Z", "2026-11-21T09Z",
            "2026-11-21T09:01.5Z", "2026-02-30T09:01:00Z", "2026-11-21T24:00:00Z", "2026-11-21T09:01:00+1:00",
            "2026-11-21T09:01:00+24:00", "2026-11-21T09:01:00.1234567890Z", "1969-12-31T23:59:59Z",
            "2026-11-21T09:01:00\u{301}Z",
        ] { #expect(WallTime(iso8601: text) == nil, "\(text)") }
    }
}
