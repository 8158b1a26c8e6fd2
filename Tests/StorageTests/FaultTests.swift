import Appliance
import LinuxSystem
import PlugModel
import ProtocolCore
import Testing

@testable import Storage

/// Tests that a plug starts and its button works with any state of the disk.
@Suite struct FaultTests {
    private let directories = Directories()
    private let disk = SelectiveDisk()
    private let notices = Notices()

    private func start(boot: BootID = firstBoot, at now: Instant = .zero) throws -> StoredPlug {
        try StoredPlug(in: directories, boot: boot, at: now, files: FileStore(calls: disk), notices: notices)
    }

    /// Presses the button and expects the relay to switch.
    private func press(_ plug: inout StoredPlug) {
        let before = plug.relayOn
        plug.press()
        #expect(plug.relayOn != before)
    }

    @Test("A plug whose flash cannot be written runs", arguments: [SystemError.noSpace, .readOnly, .inputOutput])
    func aPlugWhoseFlashCannotBeWrittenRuns(error: SystemError) throws {
        disk.change { $0.faults[directories.state] = error }
        var plug = try start()
        press(&plug)
        #expect(plug.events.map(\.sequence).allSatisfy { $0 > 1 << 44 }, "without a reservation, numbers are skipped")
        for _ in 0..<10 { press(&plug) }
        #expect(notices.troubles.allSatisfy { $0.contains(directories.state) && $0.contains("\(error)") })
        let count = notices.all.count
        plug.run(for: .seconds(7200))
        #expect(notices.all.count <= count + 1, "only the first failed write of the state adds a notice")

        disk.change { $0.faults = [:] }
        plug.run(for: .seconds(600))
        let works = [
            "event numbers are reserved in flash again", "relay state and energy are stored in flash again",
            "the plug's id is in flash", "the setup code is in flash",
            "the audit log is in flash again",
        ]
        #expect(Set(notices.recoveries) == Set(works))
        #expect(directories.text("state/sequence") == "\(plug.next + 1000)\n\(plug.next + 1000)\n")
        #expect(directories.text("state/id") == "\(plug.storage.id)\n\(plug.storage.id)\n")
        #expect(directories.text("state/setup-code") == plug.machine.access.code.map { "\($0.text)\n\($0.text)\n" })
    }

    @Test("The notice of a full disk has the failure, the consequence and a hint")
    func whatAFullDiskSaysIsWhatAndWhyAndWhatNext() throws {
        disk.change { $0.faults[directories.state + "/sequence"] = .noSpace }
        _ = try start()
        #expect(
            notices.troubles == [
                """
                cannot open \(directories.state)/sequence.new: No space left on device: the plug runs; after its \
                reserved event numbers are used up, it skips numbers and reports a gap
                hint: free some space on that file system
                """
            ])
    }

    @Test("A plug on a full disk has the same id and the same events after a kill")
    func aPlugOnAFullDiskIsTheSameAfterItWasKilled() throws {
        disk.change { $0.faults[directories.state] = .noSpace }
        func life() throws -> (PlugID, [PlugEvent]) {
            var plug = try start()
            plug.press()
            return (plug.storage.id, plug.events)
        }
        let (id, events) = try life()
        let plug = try start()
        #expect(plug.storage.id == id)
        #expect(plug.events.starts(with: events))
        #expect(plug.resume(after: events.last?.sequence ?? 0) == .resumed)
    }

    @Test("No event is lost if flash fails for some time")
    func aFlashThatCannotBeWrittenForAWhileCostsNothing() throws {
        var plug = try start()
        disk.change { $0.faults[directories.state] = .noSpace }
        for _ in 0..<400 { plug.press() }
        #expect(plug.next == 802)
        disk.change { $0.faults = [:] }
        plug.run(for: .seconds(600))
        // The plug reserves 2000 numbers, starting with 802, because the previous reservation was less than an hour
        // ago.
        #expect(directories.text("state/sequence") == "2802\n2802\n")
        #expect(plug.resume(after: 0) == .resumed)
    }

    @Test("Event numbers that were used while flash failed are not used again")
    func numbersOfAFlashThatFailedAreNotUsedAgain() throws {
        func life(_ boot: BootID, failing: Bool) throws -> [SequenceNumber] {
            disk.change { $0.faults[directories.state] = failing ? .noSpace : nil }
            var plug = try start(boot: boot)
            for _ in 0..<600 { plug.press() }
            return plug.events.map(\.sequence)
        }
        let first = try life(firstBoot, failing: false)
        #expect(first.count == 1201 && first.last == 1201)
        let second = try life(secondBoot, failing: true)
        #expect(second.first.map { $0 > 1 << 44 } == true, "without a new boundary all numbers are skipped")
        let third = try life(firstBoot, failing: false)
        #expect(third.first == 2501, "numbers continue at the boundary that the first process reserved last")
        #expect(Set(first + second + third).count == first.count + second.count + third.count)
    }

    @Test(
        "A damaged file of the boundary is renamed, and event numbers are skipped",
        arguments: ["", "0", "-1", "1.5", "x", "18446744073709551615", "2305843009213693953"].map { "\($0)\n\($0)\n" }
            + ["", "1001\n", "1001\n10", "1001\n1801\n", "1001\n1001\n1001\n"])
    func aDamagedBoundaryIsKeptAsideAndNumbersLeap(text: String) throws {
        try directories.write("0123456789ab\n0123456789ab\n", to: "state/id")
        try directories.write(text, to: "state/sequence")
        var plug = try start()
        #expect(
            notices.troubles == [
                """
                \(directories.state)/sequence is damaged: expected an integer from 1 to 2305843009213693952, in \
                two equal lines; it is kept as sequence.damaged
                hint: no action is required; event numbers continue far above all used ones, and controllers receive a gap
                """
            ])
        #expect(directories.text("state/sequence.damaged") == text)
        let first = plug.events.first?.sequence ?? 0
        #expect(first > 1 << 44)
        #expect(plug.resume(after: 17) == .gap(Gap(from: 18, to: first - 1, reason: .storageFailed)))
        #expect(directories.text("state/sequence") == "\(plug.next + 1000)\n\(plug.next + 1000)\n")
        press(&plug)
    }

    @Test("A missing file of the boundary counts as damaged if the plug has an id")
    func aMissingBoundaryOfAPlugThatHasAnIdIsDamage() throws {
        try directories.write("0123456789ab\n0123456789ab\n", to: "state/id")
        let plug = try start()
        #expect(notices.troubles.first?.hasPrefix("\(directories.state)/sequence is missing\nhint: ") == true)
        #expect(plug.events.first.map { $0.sequence > 1 << 44 } == true)
    }

    @Test("If the boundary is damaged and the mirror is valid, no event number is skipped")
    func aDamagedBoundaryBesideAWholeMirrorCostsNoNumber() throws {
        func life() throws -> SequenceNumber {
            var plug = try start()
            plug.press()
            return plug.next
        }
        let next = try life()
        try directories.write("x", to: "state/sequence")
        let after = try start()
        #expect(after.events.last?.sequence == next)
        #expect(after.resume(after: 0) == .resumed)
        #expect(directories.text("state/sequence") == "\(next + 1000)\n\(next + 1000)\n")
    }

    @Test("A tripped protection is in flash at once, and the state of older firmware is read")
    func whatTrippedIsInFlashAtOnceAndAStateOfOlderFirmwareIsRead() throws {
        var plug = try start()
        plug.press()
        plug.load = 40_000
        plug.run(for: .seconds(10))
        #expect(plug.machine.state.tripped == .overPower)
        let energy = try #require(plug.state?.milliwattHours)
        let text = try #require(directories.text("state/state"))
        #expect(text.hasPrefix("off 1000 ") && text.hasSuffix(" overPower\n"))
        #expect(energy > 0)
        plug.storage.close()
        var after = try start(boot: secondBoot)
        #expect(after.machine.state.tripped == .overPower && !after.relayOn)
        after.load = 600
        after.press()
        after.run(for: .seconds(75))
        #expect(after.relayOn)
        #expect(directories.text("state/state")?.contains("overPower") == false, "the reset is stored in flash")
        after.storage.close()
        try directories.write("on 500 77\non 500 77\n", to: "state/state")
        let old = try start(boot: firstBoot)
        #expect(old.state == StoredState(relayOn: true, level: DimLevel(percent: 50), milliwattHours: 77))
    }

    @Test(
        "A damaged file of the state is renamed",
        arguments: [
            "on", "on 1000 0 overpower", "maybe 1000 0", "on 1001 0", "on 1000 -1", "on 1000 0 more", "on  1000 0",
        ].map { "\($0)\n\($0)\n" } + ["", "on 1000 0\n", "on 1000 0\non 1000 8\n", String(repeating: "1", count: 5000)])
    func aDamagedStateIsKeptAside(text: String) throws {
        try directories.write(text, to: "state/state")
        var plug = try start()
        #expect(
            notices.troubles == [
                """
                \(directories.state)/state is damaged: expected relay (on or off), level, milliwatt-hours and \
                optionally the tripped protection, in two equal lines; it is kept as state.damaged
                hint: check whether the relay is in the right state
                """
            ])
        #expect(directories.text("state/state.damaged") == text)
        #expect(!plug.relayOn)
        press(&plug)
    }

    @Test(
        "A damaged file of the id is renamed, and a new id is created",
        arguments: ["0123456789a", "0123456789AB", "../../etc/ab", "0123456789ab cd", "\u{0}"].map { "\($0)\n\($0)\n" }
            + ["", "0123456789ab\n", "0123456789ab\n0123456789aa\n"])
    func aDamagedIdIsKeptAsideAndAnotherDrawn(text: String) throws {
        try directories.write(text, to: "state/id")
        try directories.write("500\n500\n", to: "state/sequence")
        let plug = try start()
        #expect(directories.text("state/id.damaged") == text)
        #expect(directories.text("state/id") == "\(plug.storage.id)\n\(plug.storage.id)\n")
        #expect(plug.events.first?.sequence == 500, "the boundary is not damaged")
        #expect(notices.troubles.count == 1)
    }

    /// This state remains if the power is lost after a start renamed the damaged files and before it wrote new ones.
    /// The next start must not treat the plug as new.
    @Test("A missing file that an earlier start found damaged is reported, and event numbers are skipped")
    func whatWasFoundDamagedOnceIsNotTakenForWhatNeverWas() throws {
        try directories.write("x", to: "state/id.damaged")
        try directories.write("x", to: "state/sequence.damaged")
        let plug = try start()
        #expect(plug.events.first.map { $0.sequence > 1 << 44 } == true)
        let told = ["id", "sequence"].map { "\(directories.state)/\($0) was damaged and is now missing\nhint: " }
        #expect(notices.troubles.count == 2 && zip(notices.troubles, told).allSatisfy { $0.hasPrefix($1) })
    }

    @Test("A damaged id is restored from the mirror") func theMirrorKnowsADamagedId() throws {
        let id = try start().storage.id
        try directories.write("?", to: "state/id")
        let plug = try start()
        #expect(plug.storage.id == id)
        #expect(directories.text("state/id") == "\(id)\n\(id)\n")
        #expect(plug.resume(after: 0) == .resumed)
    }

    @Test("A state directory that cannot be created is reported, and the plug runs")
    func aStateDirectoryThatCannotBeMadeIsToldAndLivedWithout() throws {
        try directories.write("a file", to: "state")
        var plug = try start()
        press(&plug)
        let told = try #require(notices.troubles.first)
        #expect(told.hasPrefix("cannot make the directory \(directories.state): "))
        #expect(told.contains("\nhint: a file exists where a directory is needed"))
    }

    @Test("If the runtime directory cannot be written, a restart counts as a loss of power")
    func aRuntimeDirectoryThatCannotBeWrittenMakesARestartALossOfPower() throws {
        disk.change { $0.faults[directories.runtime] = .readOnly }
        func life() throws -> SequenceNumber {
            var plug = try start()
            press(&plug)
            plug.run(for: .seconds(7200))
            return plug.next
        }
        let next = try life()
        #expect(notices.all.count == 2, "one notice each for the directory and for the mirror")
        let after = try start()
        #expect(after.resume(after: next - 1) == .gap(Gap(from: next, to: 1000, reason: .powerLost)))
        #expect(after.relayOn, "the relay has its state in flash")
    }

    @Test("A mirror that could not be written is not trusted")
    func aMirrorThatCouldNotBeWrittenIsNeverTakenForTheTruth() throws {
        func life() throws -> SequenceNumber {
            var plug = try start()
            plug.press()
            disk.change { $0.faults[directories.runtime] = .noSpace }
            plug.press()
            #expect(directories.bytes("runtime/mirror") == nil)
            return plug.next
        }
        let next = try life()
        disk.change { $0.faults = [:] }
        let after = try start()
        #expect(after.events.first?.sequence == 1001)
        #expect(after.resume(after: next - 1) == .gap(Gap(from: next, to: 1000, reason: .powerLost)))
    }

    @Test("A mirror that one start could not replace or remove is not trusted by the next start")
    func aMirrorThatAStartCouldNeitherReplaceNorRemoveIsNotBelievedAtTheNext() throws {
        func life() throws -> SequenceNumber {
            var plug = try start()
            press(&plug)
            return plug.next
        }
        _ = try life()
        disk.change { $0.faults[directories.runtime] = .readOnly }
        let next = try life()
        #expect(directories.bytes("runtime/mirror") != nil)
        #expect(directories.text("state/unmirrored")?.count == 66)
        disk.change { $0.faults = [:] }
        let after = try start()
        #expect(after.resume(after: next - 1) == .gap(Gap(from: next, to: 1000, reason: .powerLost)))
        #expect(directories.bytes("state/unmirrored") == nil)
    }

    @Test("If neither mirror nor flash can be written, event numbers are skipped")
    func whereNeitherMirrorNorFlashCanBeWrittenAStartLeaps() throws {
        func life() throws -> SequenceNumber {
            var plug = try start()
            press(&plug)
            return plug.next
        }
        let next = try life()
        disk.change { $0.faults = [directories.runtime: .readOnly, directories.state: .readOnly] }
        #expect(try life() > next + 1 << 44)
    }

    @Test("A mirror that could not be written is written again when the fault ends")
    func aMirrorThatFailedIsBegunAnewWhenItCan() throws {
        func life() throws -> SequenceNumber {
            var plug = try start()
            disk.change { $0.faults[directories.runtime] = .noSpace }
            plug.press()
            disk.change { $0.faults = [:] }
            plug.run(for: .seconds(31))
            return plug.next
        }
        let next = try life()
        #expect(notices.recoveries == ["the mirror is written again, so a restart of the firmware loses no data"])
        let after = try start()
        #expect(after.events.last?.sequence == next)
        #expect(after.resume(after: 0) == .resumed)
    }
}
