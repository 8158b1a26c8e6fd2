import PlugModel
import ProtocolCore
import Testing

@testable import Appliance

/// A button that is held, and what the whole plug does then.
@Suite struct FactoryResetTests {
    /// Started, with the start's actions out of the way.
    private func bench() -> Bench {
        var bench = Bench()
        bench.run(milliseconds: 100)
        bench.forget()
        return bench
    }

    private func resets(_ bench: Bench) -> [Int64] {
        bench.log.compactMap { if case .factoryReset = $0.action { $0.at } else { nil } }
    }

    @Test func heldFor15SecondsItResetsAndTheLightWarnsFrom10SecondsOn() {
        var bench = bench()
        bench.press(milliseconds: 20_000)
        bench.run(milliseconds: 1000)
        #expect(resets(bench) == [15_100])
        #expect(bench.presses == [Timed(1100, .long)])
        #expect(bench.relay.isEmpty)
        let blinks = (0..<100).map { Timed(10_100 + 50 * Int64($0), $0.isMultiple(of: 2)) }
        #expect(bench.light == blinks)
    }

    @Test func whoLetsGoInTimeIsSparedIt() {
        for held in [9_999, 10_001, 14_999] as [Int64] {
            var bench = bench()
            bench.press(milliseconds: held)
            bench.run(milliseconds: 20_000)
            #expect(resets(bench) == [])
            #expect(bench.presses == [Timed(1100, .long)])
            #expect(bench.light.last?.value ?? false == false, "it shows the relay again")
            #expect(bench.light.allSatisfy { $0.at >= 10_100 && $0.at <= 100 + held + 20 })
            // The next press is one like any other.
            let now = bench.now.nanoseconds / 1_000_000
            bench.press(milliseconds: 100)
            bench.run(milliseconds: 1000)
            #expect(bench.relay == [Timed(now + 120, true)])
        }
    }

    @Test func aSpikeAtTheLastMomentChangesNothing() {
        var bench = bench()
        bench.press(milliseconds: 14_995)
        bench.run(milliseconds: 15)
        bench.edge(down: true)
        bench.run(milliseconds: 100)
        // The contact was moving at 15 s; it came back, and had never been released.
        #expect(resets(bench) == [15_110])
    }

    @Test func aPlugThatSleptThroughItDoesItWhenItWakes() {
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

    @Test(arguments: [false, true]) func nobodyHearsOfAResetBeforeFlashHasIt(byController: Bool) {
        var house = twoControllers()
        let next = house.machine.nextSequence
        let asker = house.machine.access.controllers.all[0].auditActor
        if byController { house.hear(desk, .factoryReset) } else { house.feed(.factoryReset) }
        #expect(goodbyes(house, desk) == [.factoryReset] && goodbyes(house, hall) == [.factoryReset])
        #expect(house.actions.first == .factoryReset(by: byController ? asker : .panel))
        #expect(house.actions.last == .reserve(upTo: next), "numbers go on exactly")
        #expect(house.machine.isStopped && house.machine.nextDeadline == nil)
        house.actions = []
        house.press()
        house.feed(.stopping)
        #expect(house.actions.isEmpty)
    }

    @Test func aPlugThatCannotResetSaysSoToWhoAskedAndGoesOn() {
        var house = twoControllers()
        house.isFlashWritable = false
        house.hear(desk, .factoryReset)
        #expect(goodbyes(house, desk) == [.resetFailed] && goodbyes(house, hall) == [])
        #expect(house.machine.access.controllers.all.count == 1)
        house.press()
        #expect(house.machine.state.relayOn)
        #expect(house.events(hall).map(\.kind).contains(.buttonPressed(.single)))
    }

    @Test func aHeldButtonResetsTheWholePlug() {
        var house = twoControllers()
        house.edge(down: true)
        house.run(for: .seconds(15) - .nanoseconds(1))
        #expect(!house.machine.isStopped)
        house.run(for: .nanoseconds(1))
        #expect(house.machine.isStopped)
        #expect(goodbyes(house, hall) == [.factoryReset])
        #expect(house.events(hall).map(\.kind) == [.buttonPressed(.long)])
    }

    @Test func aPlugThatWasResetStartsAsOneThatIsNew() {
        for powerOn in PowerOnState.allCases {
            let bench = Bench(nil, powerLost: false) { $0.powerOnState = powerOn }
            #expect(bench.relay.last?.value == (powerOn == .on || powerOn == .lockedOn))
            #expect(bench.recorded.first == .restarted(powerLost: false))
        }
    }
}
