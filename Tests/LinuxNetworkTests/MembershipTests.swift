import ProtocolCore
import Testing

import LinuxSystem

@testable import LinuxNetwork

@Suite("Memberships and suspend")
struct MembershipTests {
    @Test("After two minutes without a packet of another host the group is joined again, per address family")
    func silence() {
        var membership = Membership()
        #expect(membership.deadline == nil)
        let start = Instant.zero
        membership.note(.v4, now: start)
        membership.note(.v6, now: start + .seconds(100))
        #expect(membership.deadline == start + .seconds(120))
        let early = membership.takeDue(now: start + .seconds(119))
        let first = membership.takeDue(now: start + .seconds(120))
        #expect(early == [] && first == [.v4])
        #expect(membership.deadline == start + .seconds(220))
        membership.note(.v6, now: start + .seconds(200))
        let second = membership.takeDue(now: start + .seconds(240))
        #expect(second == [.v4])
        membership.forget(.v4)
        #expect(membership.deadline == start + .seconds(320))
    }

    @Test("A suspend is detected once, and small differences of the clocks are ignored")
    func sleep() {
        var detector = SleepDetector(asleep: .seconds(7))
        let noticed = [7.0, 7.000_002, 7.9, 8.1, 8.2, 8.9, 100, 100].map {
            detector.hasSlept(asleep: .seconds($0))
        }
        #expect(noticed == [false, false, false, true, false, false, true, false])
    }

    @Test("The suspended time is the difference of two clocks and at least -1 ms")
    func timeAsleep() {
        #expect(BootClock.timeAsleep >= .zero - .milliseconds(1))
    }
}
