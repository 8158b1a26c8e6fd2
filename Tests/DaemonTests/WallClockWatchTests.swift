import Automation
import ProtocolCore
import Testing

@testable import Daemon

@Suite("The clock on the wall beside the controller's")
struct WallClockWatchTests {
    /// Summer time begins at this second.
    private static let change = 1_774_746_000
    private func offset(_ second: Int) -> Int { second < Self.change ? 3600 : 7200 }

    private func look(_ watch: inout WallClockWatch, wall: Double, now: Double) -> LocalTime? {
        watch.look(
            wall: Int64(wall * 1e9), now: Instant(nanoseconds: Int64(now * 1e9)), sun: nil, offset: offset)?.time
    }

    @Test("The year's changes of the offset are known ahead")
    func ahead() throws {
        var watch = WallClockWatch()
        let begin = Double(Self.change - 86_400)
        let time = try #require(look(&watch, wall: begin, now: 100))
        func shown(_ seconds: Int64) -> String? {
            time.timeOfDay(at: Instant(nanoseconds: seconds * 1_000_000_000)).map { "\($0)" }
        }
        #expect(shown(100 + 86_399) == "01:59:59" && shown(100 + 86_400) == "03:00")
    }

    @Test("It is told anew when the clock was set, and each day, and not for what keeps it right")
    func steps() {
        var watch = WallClockWatch()
        #expect(look(&watch, wall: 1000, now: 0) != nil)
        #expect(look(&watch, wall: 1010.3, now: 10) == nil)
        #expect(look(&watch, wall: 1021, now: 20) != nil)
        #expect(look(&watch, wall: 1031, now: 30) == nil)
        #expect(look(&watch, wall: 500, now: 40) != nil)
        #expect(look(&watch, wall: 500 + 86_400, now: 40 + 86_400) != nil)
    }
}
