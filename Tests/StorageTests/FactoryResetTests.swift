import Appliance
import LinuxSystem
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport
import Testing

@testable import Storage

/// Tests of a factory reset on a disk that breaks down at every step.
@Suite struct FactoryResetTests {
    private static let state = "/var/plug"
    private static let runtime = "/run/plug"
    private static let kept = StoredState(relayOn: true, level: .full, milliwattHours: 77)

    /// The state that a plug reads from its files when it starts.
    private struct Life {
        var storage: PlugStorage
        var memory: PlugMemory
        var access: PlugServer.Access
        var key: String?

        var isOld: Bool {
            key == "old" && access.controllers == PlugServer.Access.knowing().controllers
                && memory.appliance.state == FactoryResetTests.kept
        }
        var isReset: Bool { key != "old" && access.controllers.all.isEmpty && memory.appliance.state == nil }
    }

    /// Starts a plug like plugd. Returns nil if the disk broke down.
    private func start(
        _ disk: SimulatedDisk, boot: BootID, newKey: String, code: CodeAfterReset = .label, seed: UInt64 = 3,
        notices: Notices = Notices()
    ) -> Life? {
        let files = FileStore(calls: disk)
        var random = SeededRandom(seed: seed)
        guard
            let storage = try? PlugStorage(
                state: Self.state, runtime: Self.runtime, boot: boot, codeAfterReset: code, files: files,
                random: &random,
                tell: { notices.all.append($0) })
        else { return nil }
        var key: String?
        if !storage.isUnfinished {
            let path = Self.state + "/key"
            if !storage.isPaired { _ = try? files.createSecret(path, with: Array(newKey.utf8)) }
            key = (try? files.readSecretIfPresent(path, limit: 99))?.map { String(decoding: $0, as: UTF8.self) }
        }
        let access = storage.access(key: .plug, random: &random)
        let memory = storage.restore(now: .zero)
        return disk.breakdown == nil ? Life(storage: storage, memory: memory, access: access, key: key) : nil
    }

    /// Creates a plug that is paired with the desk and has stored state.
    private func old(_ disk: SimulatedDisk) throws -> Life {
        let life = try #require(start(disk, boot: firstBoot, newKey: "old"))
        #expect(life.storage.keep(PlugServer.Access.knowing().controllers) && life.storage.persist(Self.kept))
        let event = PlugEvent(sequence: 1, boot: firstBoot, time: .zero, kind: .restarted(powerLost: true))
        life.storage.mirror([.event(event), .state(Self.kept, ApplianceMemory.Timers())])
        return life
    }

    /// Resets the plug like plugd. Returns true if the plug could confirm the reset.
    private func reset(_ life: Life, _ disk: SimulatedDisk) -> Bool {
        guard life.storage.orderReset() else { return false }
        let isOrdered = disk.breakdown == nil
        _ = life.storage.reserve(upTo: 2)
        life.storage.close()
        _ = start(disk, boot: firstBoot, newKey: "new")
        return isOrdered
    }

    @Test(
        "After a breakdown at any step of a reset, the plug is unchanged or completely reset",
        arguments: [SimulatedDisk.Breakdown.powerCut, .kill])
    func aBreakdownAtAnyStepLeavesTheOldPlugOrTheResetOne(breakdown: SimulatedDisk.Breakdown) throws {
        var outcomes: Set<Bool> = []
        var steps = 0
        while true {
            var isOver = true
            for seed in 0..<(breakdown == .kill ? 1 : 12) as Range<UInt64> {
                let disk = SimulatedDisk(seed: seed)
                let before = try old(disk)
                disk.breakDown(breakdown, afterSteps: steps)
                let isDone = reset(before, disk)
                if disk.breakdown != nil { isOver = false }
                switch breakdown {
                case .powerCut: disk.boot()
                case .kill: disk.startProcess()
                }
                let boot = breakdown == .kill ? firstBoot : secondBoot
                let life = try #require(start(disk, boot: boot, newKey: "newer"))
                let place = "after \(steps) steps, seed \(seed)"
                #expect(life.isOld || life.isReset, "\(place): key \(life.key ?? "none"), \(life.access.controllers)")
                #expect(life.isReset || !isDone, "\(place): the reset was confirmed but is not complete")
                #expect(life.key != nil && !life.storage.isUnfinished, "\(place)")
                #expect(life.storage.id == before.storage.id && life.access.code == before.access.code, "\(place)")
                #expect(life.memory.journal.nextSequence >= 2, "\(place): a used event number would be used again")
                outcomes.insert(life.isReset)
            }
            if isOver { break }
            steps += 1
        }
        #expect(outcomes == [false, true])
        #expect(steps > 50)
    }

    /// The old plug keeps its code. The reset plug has a new permanent code, which differs from the label's code and
    /// from the old one.
    @Test(
        "After a breakdown at any step of a reset, an unchanged plug has its old code, and a reset plug a new one",
        arguments: [SimulatedDisk.Breakdown.powerCut, .kill])
    func aBreakdownAtAnyStepLeavesTheOldCodeWithTheOldPlugAndANewOneWithTheReset(
        breakdown: SimulatedDisk.Breakdown
    ) throws {
        let changed = try SetupCode(text: "QRST-UVWX-YZ23-4567")
        var outcomes: Set<Bool> = []
        var steps = 0
        while true {
            let disk = SimulatedDisk(seed: UInt64(steps))
            let before = try old(disk)
            let label = before.access.code
            #expect(before.storage.keep(changed))
            disk.breakDown(breakdown, afterSteps: steps)
            if before.storage.orderReset(by: .button) {
                before.storage.close()
                _ = start(disk, boot: firstBoot, newKey: "new", code: .new, seed: 4)
            }
            before.storage.close()
            let isOver = disk.breakdown == nil
            switch breakdown {
            case .powerCut: disk.boot()
            case .kill: disk.startProcess()
            }
            let boot = breakdown == .kill ? firstBoot : secondBoot
            let life = try #require(start(disk, boot: boot, newKey: "newer", code: .new, seed: 5))
            #expect(life.access.code != nil && life.access.code != label, "after \(steps) steps")
            #expect((life.access.code == changed) == !life.isReset, "after \(steps) steps")
            outcomes.insert(life.isReset)
            life.storage.close()
            let next = try #require(start(disk, boot: secondBoot, newKey: "newest", code: .new, seed: 6))
            #expect(next.access.code == life.access.code, "after \(steps) steps: the next start changed the code")
            if isOver { break }
            steps += 1
        }
        #expect(outcomes == [false, true])
    }

    @Test("A reset removes the network files and the key; event numbers continue, and erased events become a gap")
    func aPlugThatWasResetForgetsWhatItMustAndKeepsWhatItMust() throws {
        let disk = SimulatedDisk()
        let before = try old(disk)
        let addressing = ["\(Self.state)/networks", "\(Self.state)/network-secret"]
        for file in addressing { try FileStore(calls: disk).replaceSecret(file, with: [1]) }
        #expect(before.storage.orderReset() && before.storage.reserve(upTo: 2))
        before.storage.close()
        let life = try #require(start(disk, boot: firstBoot, newKey: "new"))
        #expect(life.isReset && life.storage.wasReset)
        for file in addressing { #expect(try FileStore(calls: disk).readIfPresent(file, limit: 9) == nil) }
        #expect(life.memory.journal.nextSequence == 2)
        #expect(life.memory.journal.resume(after: 0) == .gap(Gap(from: 1, to: 1, reason: .factoryReset)))
        #expect(life.memory.journal.resume(after: 1) == .resumed, "a controller that has all events gets no gap")
        #expect(!life.memory.appliance.powerLost)
        life.storage.close()
        let next = try #require(start(disk, boot: firstBoot, newKey: "newer"))
        #expect(!next.storage.wasReset && next.key == "new")
        #expect(next.memory.journal.resume(after: 0) == .gap(Gap(from: 1, to: 1, reason: .factoryReset)))
    }

    @Test("A reset removes damaged files too") func whatWasDamagedIsForgottenToo() throws {
        let disk = SimulatedDisk()
        let before = try old(disk)
        let files = FileStore(calls: disk)
        for name in ["controllers", "state", "key"] {
            try files.replaceSecret("\(Self.state)/\(name).damaged", with: [1])
        }
        // A process that was killed while it created its key leaves a draft, which is a valid key.
        try files.replaceSecret("\(Self.state)/key.712", with: [1])
        // A key rotation was in progress.
        try files.replaceSecret("\(Self.state)/next-key", with: [1])
        #expect(before.storage.orderReset())
        before.storage.close()
        let notices = Notices()
        let life = try #require(start(disk, boot: firstBoot, newKey: "new", notices: notices))
        #expect(life.isReset && notices.all.isEmpty)
        #expect(
            disk.files.filter { name in
                name.hasPrefix(Self.state)
                    && [".damaged", "/reset", "key.712", "/next-key"].contains(where: name.hasSuffix)
            } == []
        )
    }

    @Test("If flash cannot store the request for a reset, the plug is unchanged")
    func flashThatTakesNoOrderLeavesThePlugAsItWas() throws {
        let disk = SimulatedDisk()
        let before = try old(disk)
        disk.change { $0.isReadOnly = true }
        #expect(!before.storage.orderReset())
        disk.change { $0.isReadOnly = false }
        disk.boot()
        #expect(try #require(start(disk, boot: secondBoot, newKey: "new")).isOld)
    }

    @Test("A plug that cannot complete a reset accepts no controllers and no pairing")
    func aPlugThatCannotForgetLetsNobodyInAndPairsWithNobody() throws {
        let disk = SimulatedDisk()
        let before = try old(disk)
        #expect(before.storage.orderReset())
        before.storage.close()
        disk.change { $0.isReadOnly = true }
        let notices = Notices()
        let life = try #require(start(disk, boot: firstBoot, newKey: "new", notices: notices))
        #expect(life.storage.isUnfinished && life.key == nil)
        #expect(life.access.controllers.all.isEmpty && life.access.code == nil)
        #expect(
            notices.troubles.first?.contains("a requested factory reset is not complete; the plug stays off") == true)
        #expect(notices.troubles.first?.contains("\nhint: ") == true)
        life.storage.close()
        disk.change { $0.isReadOnly = false }
        #expect(try #require(start(disk, boot: firstBoot, newKey: "new")).isReset)
    }

    // MARK: A plug that does not run

    @Test("A plug that does not run can be reset through its files")
    func aPlugThatDoesNotRunIsResetByItsFiles() throws {
        let disk = SimulatedDisk()
        _ = try old(disk)
        disk.startProcess()
        let files = FileStore(calls: disk)
        try PlugStorage.reset(state: Self.state, runtime: Self.runtime, boot: firstBoot, files: files)
        for name in ["/var/plug/key", "/var/plug/controllers", "/var/plug/state", "/run/plug/mirror"] {
            #expect(!disk.files.contains(name))
        }
        let life = try #require(start(disk, boot: firstBoot, newKey: "new"))
        #expect(life.isReset)
        #expect(life.memory.journal.resume(after: 0) == .gap(Gap(from: 1, to: 1000, reason: .factoryReset)))
    }

    @Test("A running plug cannot be reset through its files") func onlyAPlugThatDoesNotRunIsResetByItsFiles() throws {
        let disk = SimulatedDisk()
        let life = try old(disk)
        let error = #expect(throws: FileError.self) {
            try PlugStorage.reset(
                state: Self.state, runtime: Self.runtime, boot: firstBoot, files: FileStore(calls: disk))
        }
        guard case .held = error?.reason else {
            Issue.record("\(error as Any)")
            return
        }
        withExtendedLifetime(life) {}
    }

    @Test("The files of a directory without a plug are not changed")
    func aDirectoryThatHoldsNoPlugLosesNothing() throws {
        let disk = SimulatedDisk()
        let files = FileStore(calls: disk)
        try files.makeDirectories("/home/kim")
        for name in ["key", "state", "id"] { try files.replace("/home/kim/\(name)", with: Array("mine\n".utf8)) }
        #expect(throws: NoPlugError(directory: "/home/kim")) {
            try PlugStorage.reset(state: "/home/kim", runtime: "/home/kim/run", boot: firstBoot, files: files)
        }
        #expect(disk.files.filter { $0 != "/home/kim/lock" } == ["/home/kim/id", "/home/kim/key", "/home/kim/state"])
    }
}
