import Appliance
import PlugModel
import ProtocolCore
import Testing

/// Tests of handling an event in two halves: first the actions for the hardware parts, such as the relay, then all
/// other actions.
@Suite struct HalvesTests {
    @Test("The first half of handling an event switches the relay; the second half numbers, writes and sends events")
    func theRelayMovesBeforeAnythingIsNumberedWrittenOrSent() throws {
        var whole = House()
        whole.feed(.appliance(.buttonEdge(down: true, at: whole.now)))
        whole.now = whole.now + .milliseconds(100)
        whole.feed(.appliance(.buttonEdge(down: false, at: whole.now)))
        // The machine's debouncing ends with a deadline.
        whole.now = try #require(whole.machine.nextDeadline)
        var halves = whole.machine
        let number = halves.nextSequence
        let all = whole.machine.handle(.deadlineReached, now: whole.now)
        let parts = halves.begin(.deadlineReached, now: whole.now)
        #expect(parts.contains(.part(.setRelay(true))))
        #expect(halves.nextSequence == number)
        let rest = halves.finish(now: whole.now)
        #expect(!rest.contains(.part(.setRelay(true))))
        #expect(rest.contains { if case .mirror = $0 { true } else { false } })
        #expect(halves.nextSequence > number)
        #expect(parts + rest == all)
        #expect(halves.nextDeadline == whole.machine.nextDeadline)
    }

    @Test("If an event causes no action for a hardware part, the first half has no actions")
    func whatNoPartHasToDoWithIsAllInTheSecondHalf() {
        var house = House()
        #expect(house.machine.begin(.stopping, now: house.now).isEmpty)
        #expect(!house.machine.finish(now: house.now).isEmpty)
    }
}
