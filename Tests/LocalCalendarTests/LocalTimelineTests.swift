import LocalCalendar
import Testing

struct LocalTimelineTests {
    /// Central Europe in 2026: forward on 29 March, back on 25 October, both at 01:00 UTC.
    private static let europe = ZoneOffsets(
        initial: 3600,
        transitions: [.init(time: 1_774_746_000, seconds: 7200), .init(time: 1_792_890_000, seconds: 3600)])
    private static let spring: Int64 = 1_774_746_000_000
    private static let autumn: Int64 = 1_792_890_000_000

    /// Seconds after the change, of local times in seconds after two in the morning.
    private func autumnal(_ seconds: [Int64]) -> [Int64?] {
        var clock = LocalTimeline(zone: Self.europe)
        let two = Self.autumn + 3_600_000
        return seconds.map { clock.universal(two + $0 * 1000).map { ($0 - Self.autumn) / 1000 } }
    }

    @Test func anHourThatComesTwiceIsFirstSummerTimeThenWinterTime() {
        #expect(
            autumnal([-10, 0, 10, 1800, 3590, 0, 10, 3590, 3600]) == [
                -3610, -3600, -3590, -1800, -10, 0, 10, 3590, 3600,
            ])
        // With a hole between the two, and a recording that begins in it.
        #expect(autumnal([2400, 600, 3600]) == [-1200, 600, 3600])
    }

    @Test func aClockThatIsSetALittleShowsTheSamePass() {
        #expect(autumnal([100, 95, 3590, 3580, 0, 30, 20]) == [-3500, -3505, -10, -20, 0, 30, 20])
        // Set back from after the second pass.
        #expect(autumnal([3590, 0, 3595, 3605, 3598]) == [-10, 0, 3595, 3605, 3598])
        // A day back is another time that is told, which begins anew.
        #expect(autumnal([3590, 0, 90_000, 1800]) == [-10, 0, 90_000, -1800])
    }

    @Test func aTimeThatTheClockIsSetAcrossIsNone() {
        var clock = LocalTimeline(zone: Self.europe)
        let two = Self.spring + 3_600_000
        let told = [-1, 0, 3_599_999, 3_600_000].map { clock.universal(two + $0) }
        #expect(told == [Self.spring - 1, nil, nil, Self.spring])
    }

    @Test func withoutAChangeItIsTheOffset() {
        var clock = LocalTimeline(zone: ZoneOffsets(initial: -12_600))
        #expect([0, 86_400_000, -5].map { clock.universal($0) } == [12_600_000, 99_000_000, 12_599_995])
    }
}
