import PlugModel
import ProtocolCore
import Testing

@testable import Appliance

/// Tests of a factory reset by the held button, and of its effect on the whole plug.
@Suite struct FactoryResetTests {
    /// Creates a bench whose machine has started, with an empty log.
    private func bench() -> Bench {
        var bench = Bench()
        bench.run(milliseconds: 100)
        bench.forget()
        return bench
    }

    private func resets(_ bench: Bench) -> [Int64] {
        bench.log.compactMap { if case .factoryReset = $0.action { $0.at } else { nil } }
    }

    @Test("Holding the button for 15 seconds resets the plug, and the light warns after 10 seconds")
    func heldFor15SecondsItResetsAndTheLightWarnsFrom10SecondsOn() {
        var bench = bench()
        bench.press(milliseconds: 20_000)
        bench.run(milliseconds: 1000)
        #expect(resets(bench) == [15_100])
        #expect(bench.presses == [Timed(1100, .long)])
        #expect(bench.relay.isEmpty)
        let blinks = (0..<100).map { Timed(10_100 + 50 * Int64($0), $0.isMultiple(of: 2)) }
        #expect(bench.light == blinks)
    }

    @Test("Releasing the button before 15 seconds cancels the reset") func whoLetsGoInTimeIsSparedIt() {
        for held in [9_999, 10_001, 14_999] as [Int64] {
            var bench = bench()
            bench.press(milliseconds: held)
            bench.run(milliseconds: 20_000)
            #expect(resets(bench) == [])
            #expect(bench.presses == [Timed(1100, .long)])
            #expect(bench.light.last?.value ?? false == false, "the light still shows the warning")
            #expect(bench.light.allSatisfy { $0.at >= 10_100 && $0.at <= 100 + held + 20 })
            // The next press is handled as usual.
            let now = bench.now.nanoseconds / 1_000_000
            bench.press(milliseconds: 100)
            bench.run(milliseconds: 1000)
            #expect(bench.relay == [Timed(now + 120, true)])
        }
    }

    @Test("A spike at the end of the hold time does not cancel the reset") func aSpikeAtTheLastMomentChangesNothing() {
        var bench = bench()
        bench.press(milliseconds: 14_995)
        bench.run(milliseconds: 15)
        bench.edge(down: true)
        bench.run(milliseconds: 100)
        // The contact opened 5 ms before the end of the 15 s and closed within the debounce time, so the reset is made.
        #expect(resets(bench) == [15_110])
    }

    @Test("A machine that wakes late performs the reset when it wakes")
    func aPlugThatSleptThroughItDoesItWhenItWakes() {
        var bench = bench()
        bench.edge(down: true)
        bench.now = bench.now + .seconds(40)
        bench.edge(down: false)
        #expect(resets(bench) == [40_100])
        bench.run(milliseconds: 5000)
        #expect(resets(bench) == [40_100])
    }

    // MARK: The whole plug

    private func goodbyes(_ house: House, _ id: ConnectionID) -> [Goodbye.Reason] {
        house.heard[id, default: []].compactMap {
            if case .ended(.endedByPeer(let goodbye)) = $0 { goodbye.reason } else { nil }
        }
    }

    private func twoControllers() -> House {
        var house = House()
        house.join(desk, name: "Desk")
        house.join(hall, name: "Hall")
        house.run(for: .seconds(1))
        house.actions = []
        return house
    }

    @Test("Sessions are notified of a reset only after flash has stored it", arguments: [false, true])
    func nobodyHearsOfAResetBeforeFlashHasIt(byController: Bool) {
        var house = twoControllers()
        let next = house.machine.nextSequence
        let asker = house.machine.access.controllers.all[0].auditActor
        if byController { house.hear(desk, .request(.factoryReset)) } else { house.feed(.factoryReset) }
        #expect(goodbyes(house, desk) == [.factoryReset] && goodbyes(house, hall) == [.factoryReset])
        #expect(house.actions.first == .factoryReset(by: byController ? asker : .panel))
        #expect(house.actions.last == .reserve(upTo: next), "the next number is not reserved exactly")
        #expect(house.machine.isStopped && house.machine.nextDeadline == nil)
        house.actions = []
        house.press()
        house.feed(.stopping)
        #expect(house.actions.isEmpty)
    }

    @Test("A failed reset is reported to its requester, and the plug continues")
    func aPlugThatCannotResetSaysSoToWhoAskedAndGoesOn() {
        var house = twoControllers()
        house.isFlashWritable = false
        house.hear(desk, .request(.factoryReset))
        #expect(goodbyes(house, desk) == [.resetFailed] && goodbyes(house, hall) == [])
        #expect(house.machine.access.controllers.all.count == 1)
        house.press()
        #expect(house.machine.state.relayOn)
        #expect(house.events(hall).map(\.kind).contains(.buttonPressed(.single)))
    }

    @Test("Holding the button resets the whole plug") func aHeldButtonResetsTheWholePlug() {
        var house = twoControllers()
        house.edge(down: true)
        house.run(for: .seconds(15) - .nanoseconds(1))
        #expect(!house.machine.isStopped)
        house.run(for: .nanoseconds(1))
        #expect(house.machine.isStopped)
        #expect(goodbyes(house, hall) == [.factoryReset])
        #expect(house.events(hall).map(\.kind) == [.buttonPressed(.long)])
    }

    @Test("A plug starts after a reset like a new plug") func aPlugThatWasResetStartsAsOneThatIsNew() {
        for powerOn in PowerOnState.allCases {
            let bench = Bench(nil, powerLost: false) { $0.powerOnState = powerOn }
            #expect(bench.relay.last?.value == (powerOn == .on || powerOn == .lockedOn))
            #expect(bench.recorded.first == .restarted(powerLost: false))
        }
    }
}
