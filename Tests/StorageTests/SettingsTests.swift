import Appliance
import LinuxSystem
import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import Storage

/// Tests of the name and settings from controllers, across restarts, losses of power and a failing flash.
@Suite struct SettingsTests {
    private let directories = Directories()
    private let disk = SelectiveDisk()
    private let notices = Notices()

    init() throws { try directories.pairDesk() }

    private func start(boot: BootID = firstBoot) throws -> StoredPlug {
        try StoredPlug(in: directories, boot: boot, files: FileStore(calls: disk), notices: notices)
    }

    private func isDone(_ outcome: CommandOutcome?) -> Bool { if case .done = outcome { true } else { false } }

    @Test("Settings with any name are unchanged after conversion to text and back")
    func theFileSaysThemAndWhateverANameHolds() throws {
        for settings in [
            StoredSettings(), StoredSettings(name: "a;b=c%d"), StoredSettings(name: "Büro 🪴 = 1"),
            StoredSettings(powerOn: .last, autoOff: .zero),
            StoredSettings(name: "Lamp", powerOn: .off, autoOff: .milliseconds(2_592_000_000), powerLimit: 20_000),
            StoredSettings(lightOff: DailySpan(text: "22:00-07:00")), StoredSettings(powerOn: .on, lightOff: .never),
            StoredSettings(childLock: true), StoredSettings(name: "Lamp", childLock: false),
        ] {
            #expect(SettingsText.parse(SettingsText.text(settings)) == settings)
        }
        #expect(
            SettingsText.text(StoredSettings(name: "a;b", powerOn: .on, autoOff: .seconds(1), powerLimit: 5))
                == "name=a%3bb;power-on=on;auto-off=1000;power-limit=5")
        #expect(
            SettingsText.parse("name=Lamp;colour=red") == StoredSettings(name: "Lamp"),
            "an unknown key of a later firmware is ignored")
        for text in [
            "light-off=", "light-off=22:00", "light-off=never;light-off=never",
            "child-lock=", "child-lock=on", "child-lock=true;child-lock=true",
            "name", "name=", "power-on=maybe", "auto-off=-1", "auto-off=1;auto-off=2", "power-limit=x", "name=%4",
            "name=" + String(repeating: "x", count: 64),
        ] {
            #expect(SettingsText.parse(text) == nil, "\(text)")
        }
    }

    @Test("Settings survive a restart and a loss of power", arguments: [firstBoot, secondBoot])
    func theyStandAfterARestartAndAfterALossOfPower(boot: BootID) throws {
        func life() throws {
            var plug = try start()
            #expect(isDone(plug.command(1, .rename("Lounge; Lamp"))))
            #expect(isDone(plug.command(2, .configure(SettingsChange(powerOn: .value(.on))))))
            #expect(plug.announced == ["Lounge; Lamp"])
        }
        try life()
        let plug = try start(boot: boot)
        #expect(plug.machine.identity.name == "Lounge; Lamp")
        #expect(plug.machine.identity.settings?.powerOn == .on)
        #expect(plug.relayOn == (boot == secondBoot), "the power-on state applies only after a loss of power")
    }

    @Test(
        "A flash that cannot be written refuses changes and keeps the settings",
        arguments: [SystemError.noSpace, .readOnly, .inputOutput])
    func aFlashThatCannotBeWrittenRefusesAndChangesNothing(error: SystemError) throws {
        var plug = try start()
        #expect(isDone(plug.command(1, .rename("Lounge"))))
        let before = directories.text("state/settings")
        disk.change { $0.faults[directories.state + "/settings"] = error }
        for number in 2...3 {
            guard case .refused(let refusal) = plug.command(number, .rename("Hall \(number)")) else {
                Issue.record("the rename was not refused")
                return
            }
            #expect(refusal.code == .storageFailed)
        }
        #expect(plug.machine.settings == StoredSettings(name: "Lounge") && plug.announced == ["Lounge"])
        #expect(directories.text("state/settings") == before)
        #expect(notices.troubles.count == 1 && notices.troubles[0].contains("name and settings were not changed"))
        disk.change { $0.faults = [:] }
        #expect(isDone(plug.command(4, .rename("Hall"))))
        #expect(notices.recoveries == ["name and settings can be changed again"])
    }

    @Test("A damaged file is reported, and the configured settings apply")
    func aFileThatIsDamagedIsToldAndThePlugIsAsItIsConfigured() throws {
        try directories.write("name=Lounge\nname=Lounce\n", to: "state/settings")
        var plug = try start()
        #expect(plug.machine.identity.name == "Lamp")
        #expect(notices.troubles.count == 1 && notices.troubles[0].contains("plugctl rename"))
        #expect(directories.text("state/settings.damaged") != nil)
        #expect(isDone(plug.command(1, .rename("Hall"))))
        #expect(directories.text("state/settings") == "name=Hall\nname=Hall\n")
    }

    /// A confirmed change must be stored. An unconfirmed one leaves the old or the new name.
    @Test(
        "A breakdown at any step leaves the old or the new settings",
        arguments: [SimulatedDisk.Breakdown.powerCut, .kill])
    func aBreakdownAtAnyStepLeavesTheOldOrTheNew(breakdown: SimulatedDisk.Breakdown) throws {
        var steps = 0
        var names: Set<String?> = []
        while true {
            let disk = SimulatedDisk(seed: UInt64(steps))
            let before = try #require(open(disk, boot: firstBoot))
            #expect(before.keep(StoredSettings(name: "Old")))
            disk.breakDown(breakdown, afterSteps: steps)
            let isKept = before.keep(StoredSettings(name: "New"))
            let isOver = disk.breakdown == nil
            before.close()
            switch breakdown {
            case .powerCut: disk.boot()
            case .kill: disk.startProcess()
            }
            let after = try #require(open(disk, boot: secondBoot))
            let name = after.settings().name
            #expect(name == "New" || name == "Old" && !(isKept && isOver), "after \(steps) steps: \(name ?? "none")")
            names.insert(name)
            if isOver { break }
            steps += 1
        }
        #expect(names == ["Old", "New"])
    }

    private func open(_ disk: SimulatedDisk, boot: BootID) -> PlugStorage? {
        var random = SeededRandom(seed: 3)
        return try? PlugStorage(
            state: "/var/plug", runtime: "/run/plug", boot: boot, files: FileStore(calls: disk), random: &random,
            tell: { _ in })
    }

    @Test("A factory reset removes the settings") func aFactoryResetForgetsThem() throws {
        func life() throws {
            var plug = try start()
            #expect(isDone(plug.command(1, .rename("Lounge"))))
            plug.feed(.factoryReset)
        }
        try life()
        let plug = try start()
        #expect(plug.storage.wasReset && plug.machine.identity.name == "Lamp")
        #expect(directories.text("state/settings") == nil)
    }
}
