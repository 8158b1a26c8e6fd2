import HouseCalendar
import Testing

struct LocalTimelineTests {
    /// Central Europe in 2026: the clock goes forward on 29 March and back on 25 October, both at 01:00 UTC.
    private static let europe = ZoneOffsets(
        initial: 3600,
        transitions: [.init(time: 1_774_746_000, seconds: 7200), .init(time: 1_792_890_000, seconds: 3600)])
    private static let spring: Int64 = 1_774_746_000_000
    private static let autumn: Int64 = 1_792_890_000_000

    /// Converts local times, in seconds after 02:00, to seconds after the change in autumn.
    private func autumnal(_ seconds: [Int64]) -> [Int64?] {
        var clock = LocalTimeline(zone: Self.europe)
        let two = Self.autumn + 3_600_000
        return seconds.map { clock.universal(two + $0 * 1000).map { ($0 - Self.autumn) / 1000 } }
    }

    @Test("A repeated hour is first in summer time, then in winter time")
    func anHourThatComesTwiceIsFirstSummerTimeThenWinterTime() {
        #expect(
            autumnal([-10, 0, 10, 1800, 3590, 0, 10, 3590, 3600]) == [
                -3610, -3600, -3590, -1800, -10, 0, 10, 3590, 3600,
            ])
        // This recording begins within the repeated hour and has a gap.
        #expect(autumnal([2400, 600, 3600]) == [-1200, 600, 3600])
    }

    @Test("A small correction of the clock stays within the same pass of the repeated hour")
    func aClockThatIsSetALittleShowsTheSamePass() {
        #expect(autumnal([100, 95, 3590, 3580, 0, 30, 20]) == [-3500, -3505, -10, -20, 0, 30, 20])
        // The clock is corrected back into the second pass.
        #expect(autumnal([3590, 0, 3595, 3605, 3598]) == [-10, 0, 3595, 3605, 3598])
        // A step back of a day starts a new timeline, in which the hour is in its first pass.
        #expect(autumnal([3590, 0, 90_000, 1800]) == [-10, 0, 90_000, -1800])
    }

    @Test("A local time that the clock skips has no universal time") func aTimeThatTheClockIsSetAcrossIsNone() {
        var clock = LocalTimeline(zone: Self.europe)
        let two = Self.spring + 3_600_000
        let told = [-1, 0, 3_599_999, 3_600_000].map { clock.universal(two + $0) }
        #expect(told == [Self.spring - 1, nil, nil, Self.spring])
    }

    @Test("In a zone with a constant offset, the conversion subtracts the offset") func withoutAChangeItIsTheOffset() {
        var clock = LocalTimeline(zone: ZoneOffsets(initial: -12_600))
        #expect([0, 86_400_000, -5].map { clock.universal($0) } == [12_600_000, 99_000_000, 12_599_995])
    }
}
