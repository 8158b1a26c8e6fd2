import LinuxSystem
import Metering
import PlugModel
import ProtocolCore
import Testing

@testable import PlugClient

@Suite struct ReportTimesTests {
    private let second: Int64 = 1_000_000_000
    private func wall(_ seconds: Double) -> WallTime { WallTime(nanosecondsSince1970: Int64(seconds * 1e9)) }

    private func press(_ sequence: SequenceNumber, _ age: Duration?, boot: BootID = boot) -> PlugUpdate {
        .event(PlugEvent(sequence: sequence, boot: boot, time: .zero, kind: .buttonPressed(.single)), age: age)
    }

    private func time(_ times: inout ReportTimes, _ update: PlugUpdate, _ seconds: Double) -> WallTime {
        times.time(of: update, clock: nil, now: .zero, wall: wall(seconds))
    }

    @Test("The time of an event is computed from its age") func anEventIsAsOldAsItsAge() {
        var times = ReportTimes()
        #expect(time(&times, press(1, .seconds(60)), 1000) == wall(940))
        #expect(time(&times, press(2, .zero), 1000) == wall(1000))
        #expect(time(&times, press(3, nil), 1000) == wall(1000), "an event of unknown age gets the time of its arrival")
    }

    @Test("Varying estimates keep the order of events") func estimatesThatVaryKeepTheOrder() {
        var times = ReportTimes()
        #expect(time(&times, press(1, .milliseconds(60_000)), 1000) == wall(940))
        #expect(time(&times, press(2, .milliseconds(60_004)), 1000.001) == wall(940))
        #expect(time(&times, press(3, .milliseconds(59_000)), 1000.002) == wall(941.002))
    }

    @Test("After the wall clock was set, times are computed from the new clock")
    func aWallClockThatWasSetIsFollowedAndTheAgesStayTrue() {
        var times = ReportTimes()
        #expect(time(&times, press(1, .seconds(1)), 5000) == wall(4999))
        #expect(time(&times, press(2, .seconds(1)), 1400) == wall(1399), "the wall clock was set back by an hour")
        #expect(time(&times, press(3, .seconds(1)), 9000) == wall(8999))
    }

    @Test("The order is kept only within one boot") func anotherBootBeginsAnew() {
        var times = ReportTimes()
        let other = BootID(bytes: [UInt8](repeating: 3, count: 16))!
        #expect(time(&times, press(1, .zero), 1000) == wall(1000))
        #expect(time(&times, press(2, .milliseconds(500), boot: other), 1000) == wall(999.5))
    }

    @Test("The time of a reading is computed from the plug's clock") func aReadingIsAsOldAsThePlugsClockSays() {
        var times = ReportTimes()
        let state = PlugState(
            relayOn: true, reading: Reading(time: Instant(nanoseconds: 7 * second), deciwatts: 1, milliwattHours: 0))
        let clock = ClockMapping(
            boot: boot, plugTime: .zero, asked: Instant(nanoseconds: 100 * second),
            answered: Instant(nanoseconds: 100 * second))
        let at = times.time(
            of: .state(state), clock: clock, now: Instant(nanoseconds: 110 * second), wall: wall(1000))
        #expect(at == wall(997))
    }
}
