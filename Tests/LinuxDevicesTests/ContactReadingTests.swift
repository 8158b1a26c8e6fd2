import PlugHardware
import ProtocolCore
import Testing

@testable import LinuxDevices

@Suite struct ContactReadingTests {
    private func instant(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    @Test("Each edge is reported with its time") func eachEdgeIsToldWithItsTime() {
        var contact = ContactReading(isDown: false)
        #expect(contact.edge(down: true, at: instant(5)) == ButtonEdge(down: true, time: instant(5)))
        #expect(contact.isDown)
        #expect(contact.edge(down: false, at: instant(9)) == ButtonEdge(down: false, time: instant(9)))
        #expect(!contact.isDown)
    }

    @Test("A button that is down at the first reading is ignored until its first release")
    func aButtonThatIsDownAtTheStartMeansNothingUntilItWasUp() {
        var contact = ContactReading(isDown: true)
        #expect(contact.edge(down: true, at: instant(1)) == nil)
        #expect(!contact.isDown)
        #expect(contact.edge(down: false, at: instant(2)) == ButtonEdge(down: false, time: instant(2)))
        #expect(contact.edge(down: true, at: instant(3)) == ButtonEdge(down: true, time: instant(3)))
    }

    @Test("An edge with a time before the previous edge gets the time of the previous edge")
    func timeNeverRunsBackwards() {
        var contact = ContactReading(isDown: false)
        _ = contact.edge(down: true, at: instant(5))
        #expect(contact.edge(down: false, at: instant(4))?.time == instant(5))
    }

    @Test("The kernel's time of an edge is converted to the plug's clock")
    func anEdgeIsAsLongAgoOnThePlugsClockAsOnTheKernels() {
        // The host was suspended for 90 ms since it booted.
        let clocks = ClockPair(monotonic: 10_000_000, boot: instant(100))
        #expect(clocks.instant(of: 10_000_000) == instant(100))
        #expect(clocks.instant(of: 7_000_000) == instant(97))
    }

    @Test("An edge with a time stamp of a different clock gets the current time")
    func anEdgeStampedByAnotherClockWasNow() {
        let clocks = ClockPair(monotonic: 10_000_000, boot: instant(100))
        #expect(clocks.instant(of: 1_700_000_000_000_000_000) == instant(100))
    }

    @Test("The plug's clock is never behind the kernel's time stamps")
    func thePlugsClockIsNeverBehindTheKernelsStamps() {
        let clocks = ClockPair.read()
        #expect(clocks.boot.nanoseconds >= Int64(clocks.monotonic))
    }
}
