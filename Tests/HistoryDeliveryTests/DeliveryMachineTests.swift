import ProtocolCore
import Testing

@testable import HistoryDelivery

@Suite struct DeliveryMachineTests {
    private static let fault = DeliveryFault(reason: "no route to host")
    private static let refusal = DeliveryFault(reason: "another daemon's", isRefusal: true)

    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test("The machine delivers part by part and then polls for changes")
    func itSendsPartByPartAndThenLooksNowAndThen() {
        var machine = DeliveryMachine(interval: .seconds(2), seed: 1)
        #expect(machine.handle(.started, now: at(0)) == [.connect])
        #expect(machine.handle(.connected(after: 5), now: at(1)) == [.tell(.reached), .look(after: 5)])
        #expect(machine.handle(.looked(hasMore: true), now: at(1)) == [.deliver(after: 5, atMost: 512)])
        #expect(machine.handle(.delivered(through: 9, isAll: false), now: at(2)) == [.deliver(after: 9, atMost: 512)])
        #expect(machine.handle(.delivered(through: 12, isAll: true), now: at(3)) == [.tell(.caughtUp)])
        #expect(machine.nextDeadline == at(5))
        #expect(machine.handle(.deadlineReached, now: at(4)).isEmpty)
        #expect(machine.handle(.deadlineReached, now: at(5)) == [.look(after: 12)])
        #expect(machine.handle(.looked(hasMore: false), now: at(5)).isEmpty)
        #expect(machine.nextDeadline == at(7))
    }

    @Test("After failures the machine retries with longer pauses and smaller parts")
    func itComesBackLaterEachTimeAndWithLess() {
        var machine = DeliveryMachine(interval: .seconds(2), seed: 1)
        _ = machine.handle(.started, now: at(0))
        var (now, waits) = (at(0), [Duration]())
        for round in 0..<15 {
            let told = machine.handle(.failed(Self.fault), now: now)
            #expect(told == (round == 0 ? [.tell(.away(Self.fault))] : []))
            let next = machine.nextDeadline ?? now
            waits.append(next - now)
            now = next
            #expect(machine.handle(.deadlineReached, now: now) == [.connect])
        }
        #expect(waits[0] <= .seconds(1) && waits[0] >= .milliseconds(500))
        #expect(waits.allSatisfy { $0 <= DeliveryMachine.longestPause })
        #expect(waits.suffix(3).allSatisfy { $0 >= DeliveryMachine.longestPause / 2 })
        #expect(machine.handle(.connected(after: 0), now: now) == [.tell(.reached), .look(after: 0)])
        #expect(machine.handle(.looked(hasMore: true), now: now) == [.deliver(after: 0, atMost: 16)])
        #expect(machine.handle(.delivered(through: 16, isAll: false), now: now) == [.deliver(after: 16, atMost: 32)])
        // A delivered part resets the pause.
        _ = machine.handle(.failed(Self.fault), now: now)
        #expect((machine.nextDeadline ?? now) - now <= .seconds(1))
    }

    @Test("After a refusal, which is reported once, the machine waits for at least half of the longest pause")
    func whoRefusesIsAskedSeldomAndToldOnce() {
        var machine = DeliveryMachine(interval: .seconds(2), seed: 1)
        _ = machine.handle(.started, now: at(0))
        #expect(machine.handle(.failed(Self.refusal), now: at(0)) == [.tell(.refused(Self.refusal))])
        let next = machine.nextDeadline ?? at(0)
        #expect(machine.handle(.deadlineReached, now: next) == [.connect])
        #expect(machine.handle(.failed(Self.refusal), now: next).isEmpty)
        #expect((machine.nextDeadline ?? next) - next >= DeliveryMachine.longestPause / 2)
    }
}
