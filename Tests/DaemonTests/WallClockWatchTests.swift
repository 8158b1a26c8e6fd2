import ProtocolCore
import RuleModel
import Testing

@testable import Daemon

@Suite("The wall clock compared with the controller's clock")
struct WallClockWatchTests {
    /// Daylight saving time begins at this second.
    private static let change = 1_774_746_000
    private func offset(_ second: Int) -> Int { second < Self.change ? 3600 : 7200 }

    private func look(_ watch: inout WallClockWatch, wall: Double, now: Double) -> LocalTime? {
        watch.look(
            wall: Int64(wall * 1e9), now: Instant(nanoseconds: Int64(now * 1e9)), sun: nil, offset: offset)?.time
    }

    @Test("The changes of the UTC offset within the next year are known in advance")
    func ahead() throws {
        var watch = WallClockWatch()
        let begin = Double(Self.change - 86_400)
        let time = try #require(look(&watch, wall: begin, now: 100))
        func shown(_ seconds: Int64) -> String? {
            time.timeOfDay(at: Instant(nanoseconds: seconds * 1_000_000_000) + WallClockWatch.lateness).map { "\($0)" }
        }
        #expect(shown(100 + 86_399) == "01:59:59" && shown(100 + 86_400) == "03:00")
    }

    @Test(
        "Each local second begins 0 to 10 ms late, for any offset between the two clocks",
        arguments: 0..<200)
    func seconds(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let origin = Int64.random(in: -5_000_000_000...1_900_000_000_000_000_000, using: &random)
        let now = Int64.random(in: 5_000_000_000...90_000_000_000_000, using: &random)
        var watch = WallClockWatch()
        let time = try #require(
            watch.look(wall: origin + now, now: Instant(nanoseconds: now), sun: nil) { _ in 3600 }?.time)
        for _ in 0..<20 {
            let second = (origin + now) / 1_000_000_000 + Int64.random(in: -80_000...80_000, using: &random)
            let instant = try #require(time.instant(of: second + 3600))
            let after = instant.nanoseconds + origin - second * 1_000_000_000
            #expect((0...10_000_000).contains(after))
            #expect(time.second(at: instant) == second + 3600)
            #expect(time.second(at: instant - .nanoseconds(1)) == second + 3599)
        }
    }

    @Test("A new time zone applies within a minute, even if its offset differs only in a different season")
    func newZone() throws {
        var watch = WallClockWatch()
        let begin = Self.change - 86_400
        func look(after seconds: Int, _ offset: (Int) -> Int) -> LocalTime? {
            watch.look(
                wall: Int64(begin + seconds) * 1_000_000_000, now: Instant(nanoseconds: Int64(seconds) * 1_000_000_000),
                sun: nil, offset: offset)?.time
        }
        #expect(look(after: 0) { _ in 0 } != nil)
        #expect(look(after: 1) { _ in 32_400 } != nil, "a changed offset must result in a new table at once")
        // The zone is first one hour ahead of UTC all year, and then it also has daylight saving time.
        #expect(look(after: 2) { _ in 3600 } != nil)
        let times = (3...62).compactMap { look(after: $0, offset) }
        #expect(times.count == 1)
        let summer = Instant(nanoseconds: 86_401 * 1_000_000_000)
        #expect(try #require(times.first?.timeOfDay(at: summer)) == TimeOfDay(hour: 3, minute: 0))
    }

    @Test("A new table is computed when the clock was set, and each day")
    func steps() {
        var watch = WallClockWatch()
        #expect(look(&watch, wall: 1000, now: 0) != nil)
        #expect(look(&watch, wall: 1010.003, now: 10) == nil)
        #expect(look(&watch, wall: 1020.3, now: 20) != nil)
        #expect(look(&watch, wall: 1030.3, now: 30) == nil)
        #expect(look(&watch, wall: 500, now: 40) != nil)
        #expect(look(&watch, wall: 500 + 86_400, now: 40 + 86_400) != nil)
    }
}
