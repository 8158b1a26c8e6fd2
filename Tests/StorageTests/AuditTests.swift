import Appliance
import Foundation
import LinuxSystem
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport
import Testing

@testable import Storage

/// Tests of the audit log in flash, across losses of power, damaged files, resets and a failing flash.
@Suite struct AuditTests {
    private let directories = Directories()
    private let disk = SelectiveDisk()
    private let notices = Notices()

    init() throws { try directories.pairDesk() }

    private func start(boot: BootID = firstBoot) throws -> StoredPlug {
        try StoredPlug(in: directories, boot: boot, files: FileStore(calls: disk), notices: notices)
    }

    private func entries(_ plug: StoredPlug) -> [AuditEntry] { plug.storage.audit().entries }

    private func kinds(_ plug: StoredPlug) -> [AuditNote.Kind] { entries(plug).map(\.note.kind) }

    private func renamed(_ number: Int, to name: String = "b") -> AuditEntry {
        AuditEntry(
            number: UInt64(number), boot: firstBoot, time: .zero + .milliseconds(Int64(number)),
            AuditNote(.renamed, by: .controller(name: "Desk", key: "0123456789ab"), "a\(number) to \(name)"))
    }

    @Test("Entries with any actor and name are equal after writing and parsing")
    func theFileSaysThemAndWhateverANameHolds() throws {
        let actors: [AuditActor] = [
            .controller(name: "Büro 🪴;%", key: "0123456789ab"), .controller(name: "", key: ""), .stranger(key: "ff"),
            .button, .panel, .broker, .homeKit, .matter, .configuration, .plug, .unknown,
        ]
        var entries: [AuditEntry] = []
        for kind in AuditNote.Kind.allCases {
            for actor in actors {
                let note = AuditNote(kind, by: actor, isRefused: entries.count.isMultiple(of: 2), "a;b\u{85}")
                entries.append(
                    AuditEntry(
                        number: AuditEntry.highestNumber - UInt64(entries.count), boot: secondBoot,
                        time: PlugWire.latestTime, note, count: .max))
            }
        }
        let content = AuditFile.parse(AuditFile.bytes(of: entries))
        #expect(content.entries == entries && content.spoiled == 0 && content.isWhole)
    }

    @Test("The size limit of the file is at least the size of 1500 lines of maximum length")
    func itHasItsLimitWhereEverythingIsAsLongAsItMayBe() {
        let note = AuditNote(
            .pairingFailed,
            by: .controller(
                name: String(repeating: "n", count: 63), key: String(repeating: "f", count: AuditActor.keyDigits)),
            isRefused: true, String(repeating: "d", count: AuditNote.longestDetail))
        let entry = AuditEntry(
            number: AuditEntry.highestNumber, boot: firstBoot, time: PlugWire.latestTime, note, count: .max)
        #expect(AuditFile.line(entry).count <= 356 && 356 * 1500 <= AuditFile.limit)
    }

    @Test("A damaged byte loses only the entries on its line, the loss is reported, and the file is rewritten")
    func anyByteThatIsSpoiledCostsItsEntryAndIsToldAndWrittenAnew() throws {
        let bytes = AuditFile.bytes(of: (1...3).map { renamed($0) })
        for index in bytes.indices {
            var spoiled = bytes
            spoiled[index] ^= 1
            let content = AuditFile.parse(spoiled)
            // A damaged line end joins two lines.
            #expect((1...2).contains(content.entries.count) || index == bytes.count - 1, "\(index)")
            #expect(content.spoiled > 0 || !content.isWhole)
            #expect(content.entries.allSatisfy { entry in (1...3).contains { renamed($0) == entry } })
        }
        var spoiled = bytes
        spoiled[bytes.count / 2] ^= 1
        try directories.write(spoiled[...], to: "state/audit")
        let plug = try start()
        #expect(entries(plug).map(\.number) == [1, 3, 4, 5])
        #expect(entries(plug).map(\.note.detail).suffix(2) == ["lines that could not be read: 1", "1.0"])
        #expect(notices.troubles.contains { $0.contains("state/audit: lines that could not be read: 1") })
        #expect(AuditFile.parse(directories.bytes("state/audit") ?? []).spoiled == 0)
    }

    @Test(
        "Completed actions are in the file after a kill and after a loss of power",
        arguments: [firstBoot, secondBoot])
    func whatWasDoneStandsAfterAKillAndAfterALossOfPower(boot: BootID) throws {
        func life() throws {
            var plug = try start()
            plug.run(for: .seconds(1))
            plug.command(1, .rename("Lounge"))
            plug.command(2, .setLevel(.full, transition: .seconds(7200)))
            plug.command(3, .configure(SettingsChange(powerLimit: .value(.max))))
        }
        try life()
        let plug = try start(boot: boot)
        #expect(kinds(plug) == [.firmware, .renamed, .refused])
        #expect(entries(plug)[1].boot == firstBoot && entries(plug)[1].time == .zero + .seconds(1))
        #expect(entries(plug)[1].note.detail == "Lamp to Lounge")
        #expect(notices.troubles.isEmpty)
    }

    /// Each call and each written byte is a step. Each run cuts the power at a different step.
    @Test("A loss of power at any byte loses at most the entry being written")
    func aLossOfPowerAtAnyByteCostsAtMostTheEntryThatWasOnItsWay() throws {
        var cuts = 0
        for steps in 1... {
            let disk = SimulatedDisk(seed: UInt64(steps))
            let directory = StateDirectory(path: "/state", files: FileStore(calls: disk))
            try directory.files.makeDirectories("/state")
            disk.breakDown(.powerCut, afterSteps: steps)
            var written = 0
            for number in 1...6 {
                // Every third write rewrites the file, as the log does when the file is too long.
                let isWhole = number.isMultiple(of: 3)
                let entries = isWhole ? (1...number).map { renamed($0) } : [renamed(number)]
                do throws(FileError) {
                    try directory.write(AuditLog.Write(entries: entries, isWhole: isWhole))
                } catch {
                    break
                }
                written = number
            }
            disk.boot()
            let bytes = try directory.files.readIfPresent("/state/audit", limit: AuditFile.limit) ?? []
            let found = AuditFile.parse(bytes).entries.map(\.number)
            #expect(found == (1...7).prefix(found.count).map { UInt64($0) }, "cut after \(steps)")
            #expect((written...written + 1).contains(found.count), "cut after \(steps), \(written) written")
            if written == 6 { break }
            cuts += 1
        }
        #expect(cuts > 1000, "the power was cut at too few steps")
    }

    @Test("A factory reset empties the log and is its first entry") func aResetEmptiesItAndIsItsFirstEntry() throws {
        func life() throws {
            var plug = try start()
            plug.command(1, .rename("Lounge"))
            plug.edge(down: true)
            plug.run(for: .seconds(15))
            #expect(plug.machine.isStopped)
        }
        try life()
        #expect(directories.text("state/audit")?.contains("Desk") == true)
        let plug = try start()
        #expect(kinds(plug) == [.factoryReset, .firmware] && entries(plug)[0].note.actor == .button)
        #expect(directories.text("state/audit")?.contains("Desk") == false, "the reset erased the previous owner")
    }

    @Test("The reset of a plug that does not run is recorded too")
    func theResetOfAPlugThatDoesNotRunIsToldToo() throws {
        do { _ = try start() }
        try PlugStorage.reset(state: directories.state, runtime: directories.runtime, boot: firstBoot)
        #expect(directories.text("state/audit") == nil)
        let plug = try start()
        #expect(kinds(plug) == [.factoryReset, .firmware] && entries(plug)[0].note.actor == .panel)
    }

    @Test("A reset that was ordered by older firmware is recorded")
    func aResetThatAnOlderFirmwareOrderedIsTold() throws {
        do { _ = try start() }
        try directories.write("factory reset\n", to: "state/reset")
        #expect(entries(try start())[0].note == AuditNote(.factoryReset, by: .unknown))
    }

    @Test("A file that other users could have written is renamed and reported")
    func aFileThatOthersCouldHaveWrittenIsKeptAsideAndTold() throws {
        do { _ = try start() }
        try directories.setMode(0o666, of: "state/audit")
        let plug = try start()
        #expect(kinds(plug) == [.lost, .firmware])
        #expect(entries(plug)[0].note.detail == "the file could not be read; it is kept as audit.damaged")
        #expect(directories.text("state/audit.damaged") != nil)
        #expect(notices.troubles.contains { $0.contains("a new audit log is started") })
    }

    @Test(
        "A flash failure is reported once per file, and the entries are stored after the flash works again",
        arguments: [SystemError.noSpace, .readOnly, .inputOutput])
    func aFlashThatFailsIsToldOnceAndHasItLater(error: SystemError) throws {
        var plug = try start()
        disk.change { $0.faults[directories.state + "/audit"] = error }
        for number in 1...5 { plug.command(number, .rename("Lounge \(number)")) }
        plug.press()
        #expect(plug.relayOn, "a full audit log does not block the button")
        plug.run(for: .seconds(1000))
        let told = notices.troubles.filter { $0.contains("the newest entries of its audit log") }
        #expect((1...2).contains(told.count), "at most one notice for each of the two files of a write: \(told)")
        #expect(kinds(plug) == [.firmware])
        disk.change { $0.faults = [:] }
        plug.run(for: .seconds(301))
        #expect(kinds(plug) == [.firmware] + Array(repeating: .renamed, count: 5))
        #expect(notices.recoveries.contains("the audit log is in flash again"))
    }

    /// Two renames per minute, the maximum for a controller, and as many commands that set the level. The audit log has
    /// no entries for the level commands.
    @Test("A day of constant changes writes 50 to 400 kB of audit log to flash")
    func aDayOfItWritesTheseBytesToFlash() throws {
        var plug = try start()
        disk.count(directories.state + "/audit")
        let day = plug.now + .seconds(86_400)
        var number = 0
        while plug.now < day {
            number += 1
            plug.command(number, .rename("Lamp \(number)"))
            plug.command(number + 30_000, .setLevel(.full, transition: .zero))
            plug.run(for: .seconds(30))
        }
        #expect((50_000...400_000).contains(disk.counts.bytesWritten), "\(disk.counts.bytesWritten)")
        #expect((directories.bytes("state/audit")?.count ?? 0) < 200_000)
    }
}
