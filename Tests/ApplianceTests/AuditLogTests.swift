import PlugModel
import ProtocolCore
import Testing

@testable import Appliance

/// Tests of the audit log without a plug: its limits, its counters and its writes to flash.
@Suite struct AuditLogTests {
    private let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!
    private let other = BootID(bytes: [UInt8](repeating: 8, count: 16))!
    private let pairing = AuditNote(.paired, by: .controller(name: "Desk", key: "ab"))

    private func rename(_ number: Int) -> AuditNote {
        AuditNote(.renamed, by: .controller(name: "Hall", key: "cd"), "a\(number) to b")
    }

    private func refusal(_ key: Int, _ detail: String = "switch: resting") -> AuditNote {
        AuditNote(.refused, by: .controller(name: "Hall", key: "\(key)"), isRefused: true, detail)
    }

    /// Performs all writes that are due until `end`. Updates the content of the file and returns the number of writes.
    private func run(_ log: inout AuditLog, until end: Instant, _ file: inout [AuditEntry]) -> Int {
        var writes = 0
        while let deadline = log.nextDeadline, deadline <= end, let write = log.nextWrite(now: deadline) {
            file = write.isWhole ? write.entries : file + write.entries
            log.written()
            writes += 1
        }
        return writes
    }

    @Test("The last thousand entries of completed actions are kept") func theLastThousandOfWhatWasDoneAreKept() {
        var log = AuditLog()
        for second in 0..<1500 { log.record(pairing, boot: boot, now: at(Double(second))) }
        #expect(log.entries.map(\.number) == Array(501...1500))
        log = AuditLog()
        for number in 0..<1500 { log.record(rename(number), boot: boot, now: at(0)) }
        #expect(log.entries.map(\.number) == Array(501...1500))
    }

    @Test("Changes of settings cannot displace the entries of pairings")
    func whoMayOnlyChangeSettingsCannotHaveAPairingForgotten() {
        var log = AuditLog()
        for _ in 0..<500 { log.record(pairing, boot: boot, now: at(0)) }
        for number in 0..<5000 { log.record(rename(number), boot: boot, now: at(1)) }
        #expect(log.entries.count == 1000)
        #expect(log.entries.count { $0.note.kind == .paired } == 500)
        for _ in 0..<5000 { log.record(pairing, boot: boot, now: at(2)) }
        #expect(log.entries.count { $0.note.kind == .renamed } == 500, "pairings displaced entries of renames")
    }

    @Test("Refusals displace no other entries, and repetitions are counted in one entry")
    func refusalsHaveNothingElseForgottenAndAreCounted() {
        var log = AuditLog()
        log.record(pairing, boot: boot, now: at(0))
        log.record(refusal(1), boot: boot, now: at(1))
        for key in 0..<10_000 {
            let stranger = AuditNote(.refused, by: .stranger(key: "\(key)"), isRefused: true, "hello: not paired")
            log.record(stranger, boot: boot, now: at(2 + Double(key) / 1000))
        }
        #expect(log.entries.map(\.note.kind) == [.paired, .refused, .refused])
        #expect(log.entries.map(\.count) == [1, 1, 10_000])
        #expect(log.entries.last?.note.actor == .stranger(key: "0"), "the entry does not name the first stranger")
        log.record(refusal(1), boot: boot, now: at(3600.9))
        #expect(log.entries.map(\.count) == [1, 2, 10_000])
        log.record(refusal(1), boot: boot, now: at(3601))
        #expect(
            log.entries.map(\.count) == [1, 2, 10_000, 1], "a refusal one hour after the first one needs a new entry")
        log.record(refusal(1), boot: other, now: at(3602))
        log.record(refusal(1, "dim: resting"), boot: other, now: at(3602))
        log.record(refusal(2), boot: other, now: at(3602))
        #expect(log.entries.map(\.count) == [1, 2, 10_000, 1, 1, 1, 1])
    }

    @Test("The actor with the most refusals loses its own oldest entries") func whoIsRefusedMostHasItsOwnForgotten() {
        var log = AuditLog()
        log.record(refusal(1), boot: boot, now: at(0))
        log.record(AuditNote(.pairingFailed, by: .stranger(key: "1"), isRefused: true), boot: boot, now: at(0))
        for number in 0..<5000 { log.record(refusal(2, "dim: \(number)"), boot: boot, now: at(1)) }
        let actors = log.entries.map(\.note.actor)
        #expect(actors.count == 200)
        #expect(actors.prefix(2) == [.controller(name: "Hall", key: "1"), .stranger(key: "1")])
    }

    @Test("Completed actions are written at once, refusals at most every 15 minutes")
    func whatWasDoneIsWrittenAtOnceAndRefusalsEveryQuarterOfAnHour() {
        var log = AuditLog()
        var file: [AuditEntry] = []
        log.record(pairing, boot: boot, now: at(10))
        #expect(log.nextDeadline == at(10))
        #expect(run(&log, until: at(10), &file) == 1 && file == log.entries)
        log.record(refusal(1), boot: boot, now: at(20))
        #expect(
            run(&log, until: at(20), &file) == 1 && file == log.entries, "the first refusal was not written at once")
        for second in 21..<900 { log.record(refusal(1), boot: boot, now: at(Double(second))) }
        #expect(log.nextDeadline == at(920) && run(&log, until: at(919), &file) == 0)
        log.record(pairing, boot: boot, now: at(919))
        #expect(run(&log, until: at(919), &file) == 1)
        #expect(
            file.map(\.number) == [1, 2, 2, 3] && file[2].count == 880, "the write of the pairing omitted refusals")
        #expect(log.nextDeadline == nil)
        log.record(refusal(1), boot: boot, now: at(930))
        #expect(log.nextDeadline == at(919 + 900))
    }

    @Test("A day of constant changes and refusals causes at most 720 writes")
    func aDayOfEverythingAtOnceHas720Writes() {
        var log = AuditLog()
        var file: [AuditEntry] = []
        var writes = 0
        for second in 0..<86_400 {
            let now = at(Double(second))
            if second.isMultiple(of: 7) { log.record(rename(second), boot: boot, now: now) }
            log.record(refusal(second % 5, "switch: \(second % 11)"), boot: boot, now: now)
            writes += run(&log, until: now, &file)
            guard file.count <= 1400 else { return #expect(file.count <= 1400) }
        }
        #expect((700...720).contains(writes))
    }

    private func rotation(_ key: Int) -> AuditNote {
        AuditNote(.keyRotated, by: .controller(name: "Tablet", key: "\(key)"))
    }

    @Test("New keys of one controller within an hour are one entry with the newest key")
    func rotationsOfOneControllerAreCounted() {
        var log = AuditLog()
        log.record(pairing, boot: boot, now: at(0))
        for key in 0..<1050 { log.record(rotation(key), boot: boot, now: at(1 + Double(key))) }
        #expect(log.entries.map(\.note.kind) == [.paired, .keyRotated] && log.entries.map(\.count) == [1, 1050])
        #expect(log.entries.last?.note.actor == .controller(name: "Tablet", key: "1049"))
    }

    @Test("A router that maps and unmaps a port is counted, writes rarely, and displaces no other entry")
    func reachability() {
        var log = AuditLog()
        var file: [AuditEntry] = []
        log.record(pairing, boot: boot, now: at(0))
        log.record(rename(1), boot: boot, now: at(0))
        var writes = run(&log, until: at(0), &file)
        for second in 1...3600 {
            let kind: AuditNote.Kind = second.isMultiple(of: 2) ? .unreachable : .reachable
            log.record(AuditNote(kind, by: .plug, "192.0.2.1 port 4711"), boot: boot, now: at(Double(second)))
            writes += run(&log, until: at(Double(second)), &file)
        }
        #expect(log.entries.map(\.note.kind) == [.paired, .renamed, .reachable, .unreachable])
        #expect(log.entries.map(\.count) == [1, 1, 1800, 1800])
        #expect(writes == 5, "the first entries, then one write per quarter of an hour")
        for number in 0..<5000 {
            log.record(AuditNote(.reachable, by: .plug, "\(number)"), boot: boot, now: at(4000))
        }
        #expect(log.entries.prefix(2).map(\.note.kind) == [.paired, .renamed])
        #expect(log.entries.count == 2 + AuditLog.reachabilityLimit && log.entries.last?.note.detail == "4999")
    }

    @Test("Pairings and removals are written at once even if renames and new keys have used up the writes of the hour")
    func rightsHaveReservedWrites() {
        var log = AuditLog()
        var file: [AuditEntry] = []
        for second in 0..<1000 {
            log.record(rename(second), boot: boot, now: at(Double(second)))
            log.record(rotation(second), boot: boot, now: at(Double(second)))
            _ = run(&log, until: at(Double(second)), &file)
        }
        #expect(log.nextDeadline.map { $0 > at(3000) } == true, "the writes of the hour were not used up")
        log.record(pairing, boot: boot, now: at(1000))
        #expect(run(&log, until: at(1000), &file) == 1 && file.last?.note == pairing)
        let removal = AuditNote(.removed, by: .controller(name: "Desk", key: "ab"), "Tablet")
        log.record(removal, boot: boot, now: at(1001))
        #expect(run(&log, until: at(1001), &file) == 1 && file.last?.note == removal)
    }

    @Test("Entries of a failed write are written again after five minutes") func aFailedWriteIsMadeUpForLater() {
        var log = AuditLog([], lines: 0)
        log.record(pairing, boot: boot, now: at(0))
        #expect(log.nextWrite(now: at(0)) == AuditLog.Write(entries: log.entries, isWhole: false))
        log.record(pairing, boot: boot, now: at(1))
        #expect(log.nextDeadline == nil, "a second write was scheduled during the first one")
        log.failed(now: at(2))
        #expect(log.nextDeadline == at(302))
        #expect(log.nextWrite(now: at(301)) == nil)
        let write = log.nextWrite(now: at(302))
        #expect(
            write == AuditLog.Write(entries: log.entries, isWhole: true),
            "the whole file must be written after a failure")
        log.written()
        #expect(log.nextDeadline == nil && log.lastWrite(now: at(303)) == nil)
    }

    @Test("An orderly stop writes all entries that flash lacks") func anOrderlyStopWritesAllThatFlashLacks() {
        var log = AuditLog([], lines: 0)
        log.record(pairing, boot: boot, now: at(0))
        _ = log.nextWrite(now: at(0))
        log.record(refusal(1), boot: boot, now: at(1))
        let write = log.lastWrite(now: at(2))
        #expect(write == AuditLog.Write(entries: log.entries, isWhole: false), "the write omitted an entry")
    }

    @Test("A log that is restored from the file equals the log before the restart")
    func whatTheFileHasIsTheLogOfTheNextStart() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<20 {
            var log = AuditLog()
            var file: [AuditEntry] = []
            for second in 0..<Int.random(in: 1...4000, using: &random) {
                let note = [pairing, rename(second), refusal(second % 7, "\(second % 3)")].randomElement(
                    using: &random)!
                log.record(note, boot: boot, now: at(Double(second * 60)))
                _ = run(&log, until: at(Double(second * 60)), &file)
            }
            if let write = log.lastWrite(now: at(1e6)) {
                file = write.isWhole ? write.entries : file + write.entries
            }
            let next = AuditLog(file, lines: file.count)
            #expect(next.entries.suffix(200) == log.entries.suffix(200))
            #expect(next.entries.count == log.entries.count)
        }
    }

    @Test("A page has at most the next 100 entries, and a limit selects the newest entries")
    func partsOfItFollowEachOther() {
        var log = AuditLog()
        for number in 0..<250 { log.record(rename(number), boot: boot, now: at(0)) }
        #expect(log.page(after: 0, limit: nil) == AuditPage(Array(log.entries.prefix(100)), isLast: false))
        #expect(log.page(after: 200, limit: nil) == AuditPage(Array(log.entries.suffix(50)), isLast: true))
        #expect(log.page(after: 0, limit: 3).entries.map(\.number) == [248, 249, 250])
        #expect(log.page(after: 150, limit: 100).isLast && log.page(after: 149, limit: 101).isLast == false)
        #expect(log.page(after: .max, limit: 1) == AuditPage([], isLast: true))
    }

    @Test("When the firmware starts, a factory reset, lost entries and a new version are recorded")
    func aStartTellsWhatItFound() {
        var log = AuditLog([], remark: "lines that could not be read: 2", resetBy: .button)
        log.begin(firmware: "1.0", boot: boot, now: at(1))
        #expect(log.entries.map(\.note.kind) == [.factoryReset, .lost, .firmware])
        #expect(log.entries.map(\.note.detail) == ["", "lines that could not be read: 2", "1.0"])
        #expect(log.entries[0].note.actor == .button)
        var next = AuditLog(log.entries, lines: 3)
        next.begin(firmware: "1.0", boot: other, now: at(1))
        #expect(next.entries == log.entries && next.nextDeadline == nil)
        next.begin(firmware: "1.1", boot: other, now: at(1))
        #expect(next.entries.last?.note.detail == "1.1, before: 1.0")
        var third = AuditLog(next.entries, lines: 4)
        third.begin(firmware: "1.1", boot: other, now: at(1))
        #expect(third.entries == next.entries)
    }

    @Test("Control characters in names are replaced, and long texts are truncated")
    func noTextOfOthersIsMoreThanALine() {
        let note = AuditNote(
            .renamed, by: .controller(name: "a\tb\nc\u{9b}\u{7f}", key: String(repeating: "f", count: 64)),
            String(repeating: "é", count: 100))
        #expect(note.actor == .controller(name: "a?b?c??", key: "ffffffffffff"))
        #expect(note.detail == String(repeating: "é", count: 80))
    }
}
