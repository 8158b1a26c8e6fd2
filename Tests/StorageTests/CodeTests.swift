import LinuxSystem
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport
import Testing

@testable import Storage

/// Tests of the setup code in flash: the label's code and the one that replaces it.
@Suite struct CodeTests {
    private static let state = "/var/plug"
    private let first = try! SetupCode(text: "QRST-UVWX-YZ23-4567")
    private let second = try! SetupCode(text: "AAAA-BBBB-CCCC-DDDD")

    private struct Life {
        let storage: PlugStorage
        let code: SetupCode?
    }

    private func start(_ disk: SimulatedDisk, boot: BootID = firstBoot, notices: Notices = Notices()) -> Life? {
        var random = SeededRandom(seed: 3)
        guard
            let storage = try? PlugStorage(
                state: Self.state, runtime: "/run/plug", boot: boot, files: FileStore(calls: disk), random: &random,
                tell: { notices.all.append($0) })
        else { return nil }
        return Life(storage: storage, code: storage.access(key: .plug, random: &random).code)
    }

    /// Returns the plug after a restart.
    private func restarted(_ life: Life, _ disk: SimulatedDisk, notices: Notices = Notices()) throws -> Life {
        life.storage.close()
        return try #require(start(disk, boot: secondBoot, notices: notices))
    }

    private func label(_ disk: SimulatedDisk) throws -> SetupCode {
        try PlugLabel(state: Self.state, files: FileStore(calls: disk)).code
    }

    @Test("A changed setup code is shown, and is still valid in the next process")
    func aChangedCodeOutlivesTheProcessAndIsShown() throws {
        let disk = SimulatedDisk()
        let life = try #require(start(disk))
        #expect(try label(disk) == life.code)
        #expect(life.storage.keep(first) && life.storage.keep(second))
        #expect(try label(disk) == second)
        #expect(try restarted(life, disk).code == second)
    }

    @Test("A factory reset restores the code of the label") func aFactoryResetReturnsToTheCodeOfTheLabel() throws {
        let disk = SimulatedDisk()
        let life = try #require(start(disk))
        #expect(life.storage.keep(first) && life.storage.orderReset(by: .button))
        let after = try restarted(life, disk)
        #expect(after.storage.wasReset && after.code == life.code)
        #expect(try label(disk) == life.code)
    }

    /// If the change was confirmed, the code after a breakdown is the new one. Otherwise it is the new or the previous
    /// one. The label's code does not return if a changed code had replaced it.
    @Test(
        "A breakdown at any step leaves the old or the new code",
        arguments: [SimulatedDisk.Breakdown.powerCut, .kill])
    func aBreakdownAtAnyStepLeavesTheOldOrTheNewCode(breakdown: SimulatedDisk.Breakdown) throws {
        for before in [nil, first] {
            var found: Set<SetupCode?> = []
            var steps = 0
            while true {
                let disk = SimulatedDisk(seed: UInt64(steps))
                let life = try #require(start(disk))
                if let before { #expect(life.storage.keep(before)) }
                let old = before ?? life.code
                disk.breakDown(breakdown, afterSteps: steps)
                let isKept = life.storage.keep(second)
                let isOver = disk.breakdown == nil
                life.storage.close()
                switch breakdown {
                case .powerCut: disk.boot()
                case .kill: disk.startProcess()
                }
                let code = try #require(start(disk, boot: secondBoot)).code
                #expect(code == second || code == old && !(isKept && isOver), "after \(steps) steps")
                found.insert(code)
                if isOver { break }
                steps += 1
            }
            #expect(found.count == 2)
        }
    }

    /// Whichever call of the write fails, a restart must not find the rejected code.
    @Test("After a failed write, the old code is valid, even after a restart")
    func aWriteThatFailsLeavesTheOldOneAlsoAfterARestart() throws {
        let faults: [(inout SimulatedDisk.Faults) -> Void] = [
            { $0.room = 0 }, { $0.renameError = .readOnly }, { $0.synchronizeError = .readOnly },
        ]
        for (isChangedBefore, fault) in [false, true].flatMap({ old in faults.map { (old, $0) } }) {
            let disk = SimulatedDisk()
            let life = try #require(start(disk))
            if isChangedBefore { #expect(life.storage.keep(first)) }
            disk.change { fault(&$0) }
            #expect(!life.storage.keep(second))
            disk.change { $0 = SimulatedDisk.Faults() }
            let after = try restarted(life, disk)
            #expect(after.code == (isChangedBefore ? first : life.code))
            #expect(after.storage.keep(second), "the write can be retried")
            #expect(try restarted(after, disk).code == second)
        }
    }

    @Test("If the changed code is damaged, the label's code does not become valid again")
    func aSpoiltOneBringsTheLabelsNotBackToLife() throws {
        let disk = SimulatedDisk()
        let life = try #require(start(disk))
        #expect(life.storage.keep(first))
        disk.corrupt(Self.state + "/changed-code")
        let notices = Notices()
        let spoilt = try restarted(life, disk, notices: notices)
        #expect(spoilt.code == nil && notices.troubles.contains { $0.contains("plugctl new-code") })
        let again = try restarted(spoilt, disk)
        #expect(again.code == nil && again.storage.keep(second))
        let cured = try restarted(again, disk)
        #expect(cured.code == second)
        #expect(cured.storage.orderReset(by: .panel))
        #expect(try restarted(cured, disk).code == life.code)
    }
}
