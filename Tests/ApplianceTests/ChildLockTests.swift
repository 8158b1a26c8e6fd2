import PlugModel
import ProtocolCore
import Testing

@testable import Appliance

/// Tests of a button that is off by configuration or by a controller.
@Suite struct ChildLockTests {
    private func bench(locked: Bool) -> Bench {
        var bench = Bench(nil) { $0.isChildLocked = locked }
        bench.run(milliseconds: 100)
        bench.forget()
        return bench
    }

    private func isPairingOpened(_ bench: Bench) -> Bool { bench.log.contains { $0.action == .openPairing } }

    private func isReset(_ bench: Bench) -> Bool { bench.log.contains { $0.action == .factoryReset } }

    @Test("While the button is locked, a press of any length below the reset switches, records and opens nothing")
    func locked() {
        for milliseconds in [100, 999, 1500, 5000, 14_999] as [Int64] {
            var bench = bench(locked: true)
            bench.press(milliseconds: milliseconds)
            bench.run(milliseconds: 100)
            bench.press(milliseconds: 100)
            bench.run(milliseconds: 2000)
            #expect(bench.relay.isEmpty && bench.presses.isEmpty && bench.recorded.isEmpty)
            #expect(!isPairingOpened(bench) && !isReset(bench))
        }
        var open = bench(locked: false)
        open.press(milliseconds: 6000)
        #expect(isPairingOpened(open) && open.presses.count == 1)
    }

    @Test("A locked button still resets the plug after 15 seconds, and the light warns before") func reset() {
        var bench = bench(locked: true)
        bench.press(milliseconds: 16_000)
        #expect(isReset(bench) && bench.presses.isEmpty && bench.relay.isEmpty)
        #expect(bench.light.first == Timed(10_100, true))
    }

    @Test("A locked button resets no protection") func protection() {
        var bench = Bench(StoredState(tripped: .overPower)) { $0.isChildLocked = true }
        bench.run(milliseconds: 100)
        bench.press(milliseconds: 100)
        bench.run(milliseconds: 1000)
        #expect(bench.machine.tripped == .overPower)
    }

    @Test("A controller locks and unlocks the button at once, and flash keeps the lock") func setting() throws {
        var house = House()
        house.join(desk, name: "Desk")
        func configure(_ number: UInt8, _ value: SettingsChange.NewValue<Bool>, _ house: inout House) {
            let command = PlugCommand.configure(SettingsChange(childLock: value))
            house.hear(desk, .command(request(number), command, deadline: house.now + .seconds(5)))
        }
        configure(1, .value(true), &house)
        #expect(house.settings == StoredSettings(childLock: true))
        #expect(house.machine.identity.settings?.childLock == true)
        let before = house.machine.nextSequence
        house.press()
        #expect(!house.machine.state.relayOn && house.machine.nextSequence == before)
        var again = try house.restarted()
        let afterRestart = again.machine.nextSequence
        again.press()
        #expect(!again.machine.state.relayOn && again.machine.nextSequence == afterRestart)
        again.join(desk, name: "Desk")
        configure(2, .asConfigured, &again)
        #expect(again.settings == StoredSettings())
        again.press()
        #expect(again.machine.state.relayOn && again.machine.nextSequence > afterRestart)
    }

    @Test("A controller's setting overrides the configuration") func override() {
        var house = House(settings: StoredSettings(childLock: false)) { $0.isChildLocked = true }
        house.press()
        #expect(house.machine.state.relayOn)
        var configured = House { $0.isChildLocked = true }
        configured.press()
        #expect(!configured.machine.state.relayOn)
    }
}
