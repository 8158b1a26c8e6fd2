import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import Testing

@testable import Appliance

/// Tests of renaming and configuring a plug by its controllers.
@Suite struct SettingsTests {
    private func ask(_ house: inout House, _ number: UInt8, _ command: PlugCommand) -> CommandOutcome? {
        house.hear(desk, .command(request(number), command, deadline: house.now + .seconds(5)))
        return house.outcomes(desk, of: request(number)).last
    }

    private func code(_ outcome: CommandOutcome?) -> Refusal.Code? {
        guard case .refused(let refusal) = outcome else { return nil }
        return refusal.code
    }

    private func isDone(_ outcome: CommandOutcome?) -> Bool { if case .done = outcome { true } else { false } }

    private func descriptions(_ house: House) -> [SessionUpdate] {
        house.heard[desk, default: []].filter { if case .described = $0 { true } else { false } }
    }

    @Test("A new name is in flash before it is announced and confirmed")
    func aNewNameIsInFlashBeforeAnybodyHearsOfIt() {
        var house = House()
        house.join(desk, name: "Desk")
        house.actions = []
        #expect(isDone(ask(&house, 1, .rename("Lounge"))))
        #expect(house.settings.name == "Lounge" && house.machine.settings.name == "Lounge")
        let told = house.actions.filter {
            switch $0 {
            case .keepSettings, .announce: true
            case _: false
            }
        }
        #expect(told == [.keepSettings(StoredSettings(name: "Lounge")), .announce("Lounge")])
        #expect(house.machine.identity.name == "Lamp", "the name changed before it was announced")
        house.feed(.renamed("Lounge (2)"))
        #expect(house.machine.identity.name == "Lounge (2)")
        #expect(
            descriptions(house).last == .described(name: "Lounge (2)", given: "Lounge", house.machine.identity.settings)
        )
    }

    @Test("If flash cannot be written, name and settings are unchanged")
    func aFlashThatCannotBeWrittenLeavesEverythingAsItWas() {
        var house = House()
        house.join(desk, name: "Desk")
        let before = house.machine.identity
        house.isFlashWritable = false
        house.actions = []
        #expect(code(ask(&house, 1, .rename("Lounge"))) == .storageFailed)
        #expect(code(ask(&house, 2, .configure(SettingsChange(powerOn: .value(.off))))) == .storageFailed)
        #expect(house.machine.identity == before && house.machine.settings == StoredSettings())
        #expect(!house.actions.contains(.announce("Lounge")))
        #expect(descriptions(house).isEmpty)
        house.isFlashWritable = true
        #expect(
            code(ask(&house, 1, .rename("Lounge"))) == .storageFailed, "a repeated request must get the same answer")
        #expect(isDone(ask(&house, 3, .rename("Lounge"))))
    }

    @Test("A change without effect is not written to flash") func whatChangesNothingWearsNoFlash() {
        var house = House(settings: StoredSettings(name: "Lounge", powerOn: .off))
        house.join(desk, name: "Desk")
        house.actions = []
        #expect(isDone(ask(&house, 1, .configure(SettingsChange(powerOn: .value(.off))))))
        #expect(isDone(ask(&house, 2, .rename("Lounge"))))
        #expect(!house.actions.contains { if case .keepSettings = $0 { true } else { false } })
        #expect(
            house.actions.contains(.announce("Lounge")),
            "the name must be announced again, because a different plug that used this name may be gone")
    }

    @Test("Changes during a write to flash wait and are written in order, without one that could not be written")
    func changesThatComeWhileFlashIsWrittenWaitAndAreAllMade() {
        var house = House()
        house.join(desk, name: "Desk")
        var machine = house.machine
        var written: [StoredSettings] = []
        func feed(_ event: PlugMachine.Event) {
            for case .keepSettings(let settings) in machine.handle(event, now: house.now) { written.append(settings) }
        }
        for (number, command) in [
            PlugCommand.rename("A"), .configure(SettingsChange(powerOn: .value(.on))), .rename("B"),
        ].enumerated() {
            let session = house.controllers[desk]!.handle(
                .command(request(UInt8(number)), command, deadline: house.now + .seconds(5)), now: house.now)
            for case .send(let bytes) in session { feed(.server(.received(desk, bytes))) }
        }
        #expect(written == [StoredSettings(name: "A")])
        feed(.settingsNotKept)
        #expect(written.last == StoredSettings(powerOn: .on), "the failed change must not be part of the next write")
        feed(.settingsKept)
        #expect(written.last == StoredSettings(name: "B", powerOn: .on))
        feed(.settingsKept)
        #expect(machine.settings == StoredSettings(name: "B", powerOn: .on) && written.count == 3)
        feed(.settingsKept)
    }

    @Test("A rename that is repeated after a restart gets the same answer")
    func aRequestThatComesAgainAfterARestartGetsItsAnswer() throws {
        var house = House()
        house.join(desk, name: "Desk")
        let answer = ask(&house, 1, .rename("Lounge"))
        _ = ask(&house, 2, .rename("Hall"))
        var again = try house.restarted()
        #expect(again.machine.identity.name == "Hall")
        again.join(desk, name: "Desk")
        again.actions = []
        #expect(ask(&again, 1, .rename("Lounge")) == answer)
        #expect(again.settings.name == "Hall", "a repeated request was carried out again")
    }

    @Test("Changed settings are reported and apply at once") func settingsAreToldAndHoldAtOnce() {
        var house = House { $0.autoOff = .seconds(600) }
        house.join(desk, name: "Desk")
        #expect(
            house.machine.identity.settings
                == RemoteSettings(
                    powerOn: .last, autoOff: .seconds(600), powerLimit: 36_800, childLock: false, lightOff: .never))
        let change = SettingsChange(powerOn: .value(.off), autoOff: .value(.seconds(60)), powerLimit: .value(500))
        #expect(isDone(ask(&house, 1, .configure(change))))
        let settings = RemoteSettings(
            powerOn: .off, autoOff: .seconds(60), powerLimit: 500, childLock: false, lightOff: .never)
        #expect(descriptions(house) == [.described(name: "Lamp", given: "Lamp", settings)])
        #expect(isDone(ask(&house, 2, .setRelay(on: true, autoOff: nil))))
        // Every measurement is 60 W, which exceeds the limit of 50 W.
        house.run(for: .seconds(10))
        #expect(house.machine.state.tripped == .overPower)
        #expect(isDone(ask(&house, 3, .configure(SettingsChange(powerLimit: .asConfigured)))))
        #expect(isDone(ask(&house, 4, .resetProtection)))
        #expect(isDone(ask(&house, 5, .setRelay(on: true, autoOff: nil))))
        house.run(for: .seconds(59))
        #expect(house.machine.state.relayOn)
        house.run(for: .seconds(2))
        #expect(!house.machine.state.relayOn && house.machine.state.tripped == nil)
        #expect(isDone(ask(&house, 6, .configure(SettingsChange(powerOn: .asConfigured, autoOff: .value(.zero))))))
        #expect(
            house.machine.identity.settings
                == RemoteSettings(powerOn: .last, powerLimit: 36_800, childLock: false, lightOff: .never))
    }

    @Test(
        "After a loss of power, the power-on state that a controller has set overrides that of the configuration",
        arguments: [(PowerOnState.off, false), (.on, true), (.last, true)])
    func thePowerOnStateThatWasSetCountsAfterALossOfPower(policy: PowerOnState, expected: Bool) {
        let memory = PlugMemory(appliance: ApplianceMemory(StoredState(relayOn: true), powerLost: true))
        let house = House(memory, settings: StoredSettings(powerOn: policy)) {
            $0.powerOnState = policy == .off ? .on : .off
        }
        #expect(house.machine.state.relayOn == expected)
    }

    @Test("Settings out of range are refused") func whatIsOutOfRangeIsRefused() {
        var house = House()
        house.join(desk, name: "Desk")
        let changes: [SettingsChange] = [
            SettingsChange(powerOn: .value(.lockedOn)), SettingsChange(autoOff: .value(.milliseconds(999))),
            SettingsChange(autoOff: .value(.seconds(30 * 86_400) + .milliseconds(1))),
            SettingsChange(powerLimit: .value(9)), SettingsChange(powerLimit: .value(36_801)),
            SettingsChange(powerOn: .value(.on), powerLimit: .value(.max)),
        ]
        for (number, change) in changes.enumerated() {
            let outcome = ask(&house, UInt8(number), .configure(change))
            #expect(code(outcome) == .outOfRange, "\(change)")
        }
        #expect(house.settings == StoredSettings(), "a part of a refused change was applied")
        #expect(
            ask(&house, 100, .configure(SettingsChange(powerLimit: .value(50_000))))
                == .refused(
                    Refusal(.outOfRange, "The limit is 5000 W; 1 to 3680 W are allowed.")))
    }

    @Test("Controllers cannot set the power-on state or the auto-off time of a plug that is locked on")
    func aPlugThatIsLockedOnStaysSo() {
        var house = House(settings: StoredSettings(powerOn: .off, autoOff: .seconds(60))) {
            $0.powerOnState = .lockedOn
        }
        house.join(desk, name: "Desk")
        #expect(house.machine.state.relayOn)
        #expect(house.machine.identity.settings?.powerOn == .lockedOn)
        #expect(code(ask(&house, 1, .configure(SettingsChange(powerOn: .value(.on))))) == .lockedOn)
        #expect(code(ask(&house, 2, .configure(SettingsChange(autoOff: .value(.seconds(60)))))) == .lockedOn)
        #expect(isDone(ask(&house, 3, .configure(SettingsChange(powerOn: .asConfigured, autoOff: .asConfigured)))))
        #expect(house.settings == StoredSettings())
    }

    @Test("A setting for a part that the plug lacks is refused as unsupported")
    func aPlugThatHasNotWhatASettingIsAboutDoesNotSupportIt() {
        var house = House { $0.capabilities = [.button] }
        house.join(desk, name: "Desk")
        #expect(code(ask(&house, 1, .configure(SettingsChange(powerOn: .value(.on))))) == .unsupported)
        #expect(code(ask(&house, 2, .configure(SettingsChange(powerLimit: .value(100))))) == .unsupported)
        var relay = House { $0.capabilities = [.relay] }
        relay.join(desk, name: "Desk")
        #expect(relay.machine.identity.settings?.childLock == nil)
        #expect(code(ask(&relay, 1, .configure(SettingsChange(childLock: .value(true))))) == .unsupported)
        #expect(isDone(ask(&house, 3, .rename("Button"))))
    }

    @Test("Repeated changes of the power limit do not prevent a trip")
    func aLimitThatChangesAgainAndAgainTripsAllTheSame() {
        var house = House { $0.overPower = OverPowerLimit(deciwatts: 20_000, duration: .seconds(5)) }
        house.join(desk, name: "Desk")
        #expect(isDone(ask(&house, 1, .configure(SettingsChange(powerLimit: .value(500))))))
        #expect(isDone(ask(&house, 2, .setRelay(on: true, autoOff: nil))))
        // The first measurement of the load, which is 60 W, comes within a second.
        house.run(for: .milliseconds(4500))
        #expect(isDone(ask(&house, 3, .configure(SettingsChange(powerLimit: .value(400))))))
        #expect(house.machine.state.tripped == nil)
        house.run(for: .milliseconds(1600))
        #expect(house.machine.state.tripped == .overPower)
    }

    @Test("If the configured power limit is below one watt, controllers can set no other limit")
    func aLimitBelowAWattIsNotRaised() {
        var house = House { $0.overPower = OverPowerLimit(deciwatts: 5, duration: .seconds(5)) }
        house.join(desk, name: "Desk")
        #expect(
            ask(&house, 1, .configure(SettingsChange(powerLimit: .value(10))))
                == .refused(Refusal(.outOfRange, "The limit is 1 W; 0.5 to 0.5 W are allowed.")))
        #expect(isDone(ask(&house, 2, .configure(SettingsChange(powerLimit: .value(5))))))
    }

    @Test("A controller can rename the plug 12 times in quick succession, and then once per five minutes")
    func nobodyWearsFlashOut() {
        var house = House()
        house.join(desk, name: "Desk")
        for number in 1...12 { #expect(isDone(ask(&house, UInt8(number), .rename("Lamp \(number)")))) }
        #expect(
            ask(&house, 31, .rename("Lamp 31"))
                == .refused(Refusal(.busy, "Name and settings were changed too often; try again later.")))
        #expect(house.settings.name == "Lamp 12")
        #expect(isDone(ask(&house, 32, .rename("Lamp 12"))), "the stored name needs no write to flash")
        house.run(for: .seconds(301))
        #expect(isDone(ask(&house, 33, .rename("Lamp 33"))))
        #expect(code(ask(&house, 34, .configure(SettingsChange(powerOn: .value(.on))))) == .busy)
    }

    /// One controller must not use up the changes that all controllers share.
    @Test("A controller that exceeds its limit of changes does not prevent changes by other controllers")
    func aControllerThatChangesTooOftenLeavesRoomForOthers() {
        var house = House(access: .knowing([.desk, .stranger]))
        house.join(desk, name: "Desk")
        house.join(hall, name: "Hall", of: .stranger)
        for number in 1...13 { _ = ask(&house, UInt8(number), .rename("Lamp \(number)")) }
        #expect(house.settings.name == "Lamp 12")
        house.hear(hall, .command(request(1), .rename("Hall"), deadline: house.now + .seconds(5)))
        #expect(house.settings.name == "Hall")
    }

    @Test("A change is not made if its deadline passes while it waits for an earlier write to flash")
    func aChangeWhoseTimeIsOverWhenFlashIsFreeIsNotMade() {
        var house = House()
        house.join(desk, name: "Desk")
        var machine = house.machine
        for number in 1...2 as ClosedRange<UInt8> {
            let said = house.controllers[desk]!.handle(
                .command(request(number), .rename("Lamp \(number)"), deadline: house.now + .seconds(5)), now: house.now)
            for case .send(let bytes) in said { _ = machine.handle(.server(.received(desk, bytes)), now: house.now) }
        }
        let told = machine.handle(.settingsKept, now: house.now + .seconds(6))
        #expect(!told.contains { if case .keepSettings = $0 { true } else { false } })
        for case .server(.send(desk, let bytes)) in told { house.hear(desk, .received(bytes)) }
        #expect(house.outcomes(desk, of: request(2)).map { code($0) } == [.deadlinePassed])
        #expect(machine.settings.name == "Lamp 1")
    }

    /// The limit in the configuration was lowered after a controller had set the stored limit.
    @Test("A stored power limit above the limit in the configuration is ignored")
    func aLimitAboveThatOfTheConfigurationCountsForNothing() {
        let house = House(settings: StoredSettings(powerLimit: 30_000)) {
            $0.overPower = OverPowerLimit(deciwatts: 20_000, duration: .seconds(5))
        }
        #expect(house.machine.identity.settings?.powerLimit == 20_000)
    }
}
