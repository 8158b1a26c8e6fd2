import GRDB
import Glibc
import LinuxSystem
import Metering
import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import PowerHistory

@Suite struct FaultTests {
    private let directory = TestFolder(on: .memory)
    private let complaints = Complaints()
    private var path: String { directory.path + "/history.sqlite" }

    private func open(_ role: PowerHistory.Role) throws -> PowerHistory {
        try PowerHistory(directory.path, role: role) { [complaints] in complaints.take($0) }
    }

    /// Records a day of samples and closes the database.
    private func writeDay() throws {
        let history = try open(.recorder)
        try history.record(
            batch(chunks(from: 0, count: 86_400) { ($0 * 7919) % 20_011 }, counters: [reading(second: 0, 1)]))
        try history.queue.close()
    }

    @Test("A reader cannot open a history in which nothing was recorded")
    func thereIsNothingToReadBeforeSomethingWasRecorded() throws {
        let error = #expect(throws: HistoryError.self) { try open(.reader) }
        #expect(error == HistoryError(.absent, directory.path))
        try writeDay()
        #expect(try open(.reader).times().count == 86_400)
    }

    @Test("A history that cannot be examined is not reported as missing")
    func whatCannotBeExaminedMayBeThere() throws {
        let path = directory.path + "/" + String(repeating: "x", count: 300)
        let error = #expect(throws: HistoryError.self) { try PowerHistory(path, role: .reader) }
        guard case .file(let file)? = error?.reason else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(file.reason == .system(SystemError(ENAMETOOLONG)))
    }

    @Test("Only one process can record, while writers and readers can open the history") func onlyOneRecords() throws {
        let history = try open(.recorder)
        let error = #expect(throws: HistoryError.self) { try open(.recorder) }
        #expect(error?.reason == .recorded(by: getpid()))
        #expect(error?.hint?.contains("stop process") == true)
        // A writer and a reader are accepted.
        try open(.writer).record(batch(chunks(of: fridge, from: 0, count: 10) { $0 }))
        try history.record(batch(chunks(from: 0, count: 10) { $0 }))
        #expect(try open(.reader).plugs().count == 2)
    }

    @Test("If the disk is full, recording a batch throws, and no chunk of the batch is stored")
    func aFullDiskStoresNothingAndSaysSo() throws {
        let history = try open(.recorder)
        try history.record(batch(chunks(from: 0, count: 3000) { $0 % 100 }))
        let before = try history.content()
        try history.queue.inDatabase { try $0.execute(sql: "PRAGMA max_page_count = 30") }
        let more = batch(chunks(from: 3000, count: 80_000) { ($0 * 7919) % 20_011 })
        let error = #expect(throws: HistoryError.self) { try history.record(more) }
        #expect(error?.reason == .full)
        #expect(error?.hint != nil)
        #expect(try history.content() == before)
        try history.queue.inDatabase { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
        try history.record(more)
        #expect(try history.times().count == 83_000)
    }

    @Test("A write waits for a locked database and then throws") func aLockedDatabaseIsWaitedForAndThenSaid() throws {
        let history = try open(.recorder)
        try history.queue.inDatabase { try $0.execute(sql: "PRAGMA busy_timeout = 1") }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let piece = batch(chunks(from: 0, count: 10) { $0 })
        let error = #expect(throws: HistoryError.self) { try history.record(piece) }
        #expect(error?.reason == .locked)
        try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try history.record(piece)
        #expect(try history.times().count == 10)
    }

    /// Overwrites one page of the file.
    private func damage(page: Int) throws {
        let file = try #require(fopen(path, "r+"))
        defer { fclose(file) }
        fseek(file, page * Schema.pageSize, SEEK_SET)
        let noise = (0..<Schema.pageSize).map { UInt8(truncatingIfNeeded: $0 &* 41 &+ 7) }
        #expect(fwrite(noise, 1, noise.count, file) == noise.count)
    }

    @Test("After damage to a page that is not a root page, the rest of the history is readable")
    func anyDamagedPageLeavesTheRestReadable() throws {
        try writeDay()
        let pages = try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        let whole = try WholeFile(path)
        var (readable, partly, lost) = (0, 0, 0)
        for page in 1..<pages {
            try whole.restore()
            try damage(page: page)
            // Without the root page of a table or the schema, opening or reading throws, but does not crash.
            guard let history = try? open(.reader) else { continue }
            var count = 0
            guard let damaged = try? history.samples(of: lamp, from: 0, to: .max, { _, _ in count += 1 }) else {
                continue
            }
            readable += 1
            #expect((count == 86_400) == damaged.isEmpty, "page \(page)")
            if !damaged.isEmpty {
                partly += 1
                // Damage to the root page of the table costs all samples.
                if count < 86_400 * 3 / 4 { lost += 1 }
            }
            // Damaged roll-ups are recomputed from the samples.
            let hours = try? history.summaries(of: lamp, step: .hour, from: 0, to: .max)
            if damaged.isEmpty, let hours { #expect(hours.count == 24, "page \(page)") }
        }
        #expect(readable > pages * 3 / 4)
        #expect(partly > 10 && lost <= 1)
        #expect(complaints.all.count >= partly)
    }

    @Test("Recording continues after damage to any page") func recordingGoesOnWhateverPageIsDamaged() throws {
        try writeDay()
        let pages = try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        let whole = try WholeFile(path)
        let more = batch(chunks(from: 90_000, count: 600) { $0 })
        var (recorded, mended) = (0, 0)
        for page in stride(from: 1, to: pages, by: 2) {
            try whole.restore()
            try damage(page: page)
            let history = try open(.recorder)
            try history.record(more)
            recorded += 1
            #expect(try history.times(from: midnight + 90_000_000).count == 600, "page \(page)")
            if (try? FileStore().read(path + ".damaged", limit: 1 << 24)) != nil {
                mended += 1
                #expect(try history.queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
            }
            try? history.queue.close()
            for suffix in ["", "-wal", "-shm"] { unlink(path + ".damaged" + suffix) }
        }
        #expect(mended > 3 && mended < recorded)
    }

    @Test("Damage is also repaired if a call other than record finds it")
    func damageThatIsMetOutsideOfRecordingIsMendedToo() throws {
        try writeDay()
        let whole = try WholeFile(path)
        let calls: [(table: String, call: (PowerHistory) throws -> Void)] = [
            ("fetched", { _ = try $0.missing(of: lamp, boot: firstBoot, through: 10) }),
            ("plug", { _ = try $0.cursors() }),
            ("chunk_by_time", { try $0.forgetOld(now: midnight) }),
        ]
        for (table, call) in calls {
            try whole.restore()
            let root = try DatabaseQueue(path: path).read {
                try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [table])
            }
            try damage(page: try #require(root) - 1)
            let history = try open(.recorder)
            let damaged = history.queue
            try call(history)
            #expect(history.queue !== damaged)
            // The second call finds no damage.
            let mended = history.queue
            try call(history)
            #expect(history.queue === mended)
            try history.queue.close()
            unlink(path + ".damaged")
        }
        #expect(complaints.all.count == calls.count)
    }

    /// Traces and firings of rules are stored only in the history, so a rejected batch with them must not be lost.
    @Test("A batch that a full disk rejected is stored by the next process")
    func whatAFullDiskDidNotTakeIsThereForTheNextProcess() throws {
        func trace(_ number: Int) -> StoredTrace {
            StoredTrace(
                id: "\(number)", at: midnight + Int64(number), rule: "Movie", isFiring: true, json: "{\"at\":\(number)}"
            )
        }
        func batch(_ numbers: Range<Int>) -> HistoryBatch {
            var batch = HistoryBatch()
            batch.names[lamp] = "Lamp"
            batch.events = numbers.map { number in
                let event = PlugEvent(
                    sequence: UInt64(number), boot: firstBoot, time: .zero, kind: .buttonPressed(.single))
                return StoredEvent(
                    plug: lamp, content: .event(event), at: midnight + Int64(number), isTimeKnown: true)
            }
            batch.traces = numbers.map(trace)
            batch.firings = numbers.map {
                StoredFiring(at: midnight + Int64($0), rule: "Movie", plug: lamp, cause: "\($0)")
            }
            batch.counters = [reading(second: numbers.lowerBound, UInt64(numbers.lowerBound))]
            return batch
        }
        var history: PowerHistory? = try open(.recorder)
        try history?.record(batch(1..<3))
        try history?.queue.write { database in
            let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        #expect(throws: HistoryError(.full, path)) { try history?.record(batch(3..<600)) }
        #expect(throws: HistoryError(.full, path)) { try history?.record(batch(3..<700)) }
        #expect(throws: HistoryError(.full, path)) { try history?.record(batch(700..<1400)) }
        try history?.queue.close()
        history = nil
        let next = try open(.recorder)
        #expect(try next.events(of: lamp, from: 0, to: .max).count == 1399)
        #expect(try next.firings(from: 0, to: .max).count == 1399)
        #expect(try next.traces(of: nil, from: 0, to: .max) == (1..<1400).map(trace))
        #expect(try next.cursors() == [lamp: 1399])
        // The rejected batches are not stored a second time.
        try next.queue.write { try $0.execute(sql: "DELETE FROM firing") }
        try next.record(batch(1400..<1401))
        #expect(try next.firings(from: 0, to: .max).count == 1)
    }

    @Test("A batch that a full disk rejected does not bring back the old name of a plug")
    func oldNameStaysOld() throws {
        func batch(_ name: String, firings: Range<Int64> = 0..<0) -> HistoryBatch {
            var batch = HistoryBatch()
            batch.names[lamp] = name
            batch.firings = firings.map { StoredFiring(at: midnight + $0, rule: "Movie", plug: lamp, cause: "\($0)") }
            return batch
        }
        let history = try open(.recorder)
        try history.record(batch("Lamp"))
        try history.queue.write { database in
            let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        #expect(throws: HistoryError(.full, path)) { try history.record(batch("Lamp", firings: 0..<600)) }
        try history.queue.write { try $0.execute(sql: "PRAGMA max_page_count = 100000") }
        try history.record(batch("Reading Lamp"))
        #expect(try history.plugs().map(\.name) == ["Reading Lamp"])
        #expect(try history.firings(from: 0, to: .max).count == 600)
    }

    @Test("A damaged file of unwritten data is ignored") func whatIsLeftInThatRoomMayBeDamaged() throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let folder = TestFolder(on: .memory)
            let room = try UnwrittenBatch(in: folder.path)
            var batch = HistoryBatch()
            batch.firings = (0..<20).map { StoredFiring(at: $0, rule: "r", plug: nil, cause: "c") }
            try room.keep(batch)
            #expect(room.kept()?.firings == batch.firings)
            let file = try #require(fopen(folder.path + "/unwritten", "r+"))
            fseek(file, Int.random(in: 0..<300, using: &random), SEEK_SET)
            fputc(Int32.random(in: 0...255, using: &random), file)
            fclose(file)
            #expect(room.kept().map { $0.firings == batch.firings } ?? true)
            try room.clear()
            #expect(room.kept() == nil)
        }
    }

    @Test("A repair copies the readable samples") func whatIsReadableCanBeCopiedOut() throws {
        try writeDay()
        let pages = try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        try damage(page: pages * 2 / 3)
        let other = TestFolder(on: .memory)
        let lost = try PowerHistory.repair(path, into: other.path).chunks
        let copy = try PowerHistory(other.path, role: .reader)
        let count = try copy.times().count
        #expect(lost > 0 ? count < 86_400 : count == 86_400)
        #expect(count > 86_400 * 3 / 4)
        #expect(try copy.queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        #expect(try copy.summaries(of: lamp, step: .hour, from: 0, to: .max).count >= 20)
    }

    @Test("Only the owner can read the files of the history") func nobodyElseMayReadWhatIsRecorded() throws {
        #expect(chmod(directory.path, 0o755) == 0)
        let history = try open(.recorder)
        try history.record(batch(chunks(from: 0, count: 10) { $0 }))
        for suffix in ["", "-wal", "-shm"] {
            var status = stat()
            stat(path + suffix, &status)
            #expect(status.st_mode & 0o777 == 0o600, "\(suffix)")
        }
    }

    @Test("Each damaged database is set aside under its own name") func eachDamagedDatabaseIsKeptAside() throws {
        let text = String(repeating: "never a database, ", count: 10)
        for name in ["first", "second", "third"] {
            try FileStore().replace(path, with: Array((text + name).utf8))
            try open(.recorder).queue.close()
        }
        for (name, suffix) in [("first", "damaged"), ("second", "damaged2"), ("third", "damaged3")] {
            #expect(try FileStore().read("\(path).\(suffix)", limit: 1000) == Array((text + name).utf8))
            #expect(complaints.all.contains { $0.contains("\(path).\(suffix);") })
        }
    }

    @Test("The write-ahead log of the damaged database is not applied to the repaired one")
    func aMendedDatabaseDoesNotGetTheLogOfTheOldOne() throws {
        let place = directory.path + "/mending"
        let mended = try PowerHistory(place, role: .recorder)
        try mended.record(batch(chunks(from: 0, count: 10) { $0 }))
        try mended.queue.close()
        // The process ended after it had renamed the damaged database and before it could rename its write-ahead log.
        try FileStore().replace(path + ".damaged", with: [1])
        try FileStore().replace(path + "-wal", with: [2, 3])
        #expect(try open(.recorder).times().count == 10)
        #expect(try FileStore().read(path + ".damaged-wal", limit: 100) == [2, 3])
    }

    @Test("A file that is not a database is set aside") func aFileThatIsNoDatabaseIsKeptAside() throws {
        let text = Array("This file is not a database, despite its name.".utf8)
        try FileStore().replace(path, with: text)
        let error = #expect(throws: HistoryError.self) { try open(.reader) }
        #expect(error?.reason == .damaged)
        let history = try open(.recorder)
        try history.record(batch(chunks(from: 0, count: 10) { $0 }))
        #expect(complaints.all.count == 1)
        #expect(complaints.all.first?.contains("hint:") == true)
        #expect(try FileStore().read(path + ".damaged", limit: 1000) == text)
    }
}

/// The content of a file, from which a test restores the file.
private struct WholeFile {
    let path: String
    let bytes: [UInt8]

    init(_ path: String) throws {
        self.path = path
        bytes = try FileStore().read(path, limit: 1 << 24)
    }

    func restore() throws {
        let file = try #require(fopen(path, "w"))
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
        fclose(file)
        unlink(path + "-wal")
        unlink(path + "-shm")
    }
}
