import Foundation
import GRDB
import Glibc
import LinuxSystem
import Metering
import PlugModel
import TestSupport
import Testing

@testable import PowerHistory

/// Repairs of databases whose files or B-trees are damaged in ways that SQLite does not notice.
@Suite struct DamageTests {
    private let directory = TestFolder(on: .memory)
    private let other = TestFolder(on: .memory)
    private var path: String { directory.path + "/history.sqlite" }

    /// Records a day of a lamp and firings of rules, and closes the database, so that one file has all data.
    private func writeDay() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        var day = batch(chunks(from: 0, count: 86_400) { ($0 * 7919) % 20_011 })
        day.names[lamp] = "Lamp"
        day.firings = (0..<400).map { number in
            StoredFiring(at: midnight + Int64(number) * 1000, rule: "rule", plug: lamp, cause: "a cause of some words")
        }
        try history.record(day)
        try history.queue.close()
    }

    private func pages(_ table: String, _ kind: String) throws -> [Int] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { database in
            try Int.fetchAll(
                database, sql: "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY path",
                arguments: [table, kind])
        }
    }

    private func read() throws -> [UInt8] { try FileStore().read(path, limit: 1 << 24) }

    private func write(_ bytes: [UInt8]) throws {
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        try Data(bytes).write(to: URL(filePath: path))
    }

    private func place(of page: Int) -> Int { (page - 1) * Schema.pageSize }

    /// - Returns: The report of the repair, and the number of samples and of firings in the copy.
    private func repaired() throws -> (report: SalvageReport, samples: Int, firings: Int) {
        let target = other.path + "/copy"
        try? FileManager.default.removeItem(atPath: target)
        let report = try PowerHistory.repair(path, into: target)
        let copy = try PowerHistory(target, role: .reader)
        return (report, try copy.times().count, try copy.firings(from: 0, to: .max).count)
    }

    @Test("An empty database next to its write-ahead log is refused, and a repair reads the whole log")
    func emptyFileNextToLog() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        // Without checkpoints, the log contains all pages.
        try history.queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
        try history.record(batch(chunks(from: 0, count: 86_400) { ($0 * 7919) % 20_011 }))
        try history.queue.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        let log = try FileStore().read(path + "-wal", limit: 1 << 24)
        let killed = directory.path + "/killed/history.sqlite"
        try FileStore().makeDirectories(directory.path + "/killed")
        try Data().write(to: URL(filePath: killed))
        try Data(log).write(to: URL(filePath: killed + "-wal"))
        let error = #expect(throws: HistoryError.self) { try PowerHistory(directory.path + "/killed", role: .reader) }
        #expect(error?.reason == .damaged)
        #expect(throws: HistoryError.self) { try PowerHistory(directory.path + "/killed", role: .writer) }
        let report = try PowerHistory.repair(killed, into: other.path)
        #expect(report.chunks == 0)
        #expect(try PowerHistory(other.path, role: .reader).times().count == 86_400)
        #expect(try FileStore().read(killed + "-wal", limit: 1 << 24) == log)
        // A recorder sets both files aside.
        _ = try PowerHistory(directory.path + "/killed", role: .recorder)
        #expect(try FileStore().read(killed + ".damaged-wal", limit: 1 << 24) == log)
    }

    @Test(
        "A repair ends and keeps every sample if any bit of the first byte of a key of an interior page is changed",
        arguments: 0..<8)
    func changedKey(bit: Int) throws {
        try writeDay()
        let whole = try read()
        let root = place(of: try #require(try pages("chunk", "internal").first))
        let cells = Int(whole[root + 3]) << 8 | Int(whole[root + 4])
        let cell = root + (Int(whole[root + 12 + 2 * (cells / 2)]) << 8 | Int(whole[root + 13 + 2 * (cells / 2)]))
        var bytes = whole
        bytes[cell + 4] ^= 1 << UInt8(bit)
        try write(bytes)
        let (report, samples, _) = try repaired()
        #expect(samples == 86_400 && report.chunks == 0)
        // Without the index, the repair searches by row number and also finds all rows.
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: "DROP INDEX chunk_by_time") }
        let places = try queue.read { database in
            var places: Set<Int64> = []
            _ = try DamagedTable(database: database, name: "chunk").read("id") { row in
                places.insert(row.integer(0)).inserted
            }
            return places
        }
        #expect(try places.count == queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM chunk") ?? 0 })
    }

    @Test("A repair of a database with an inserted page terminates", arguments: [2, 5, 20, 60])
    func insertedPage(page: Int) throws {
        try writeDay()
        var bytes = try read()
        bytes.insert(contentsOf: bytes[place(of: page)..<place(of: page + 1)], at: place(of: page))
        try write(bytes)
        _ = try? repaired()
    }

    @Test("A repair of a database with two swapped leaf pages copies all samples")
    func swappedLeaves() throws {
        try writeDay()
        var bytes = try read()
        let leaves = try pages("chunk", "leaf")
        let (first, second) = (place(of: leaves[leaves.count / 4]), place(of: leaves[leaves.count / 2]))
        for offset in 0..<Schema.pageSize { bytes.swapAt(first + offset, second + offset) }
        try write(bytes)
        let (report, samples, _) = try repaired()
        #expect(samples == 86_400 && report.chunks == 0)
    }

    @Test("A repair reports a lost page of plugs or boots and copies all samples", arguments: ["plug", "boot"])
    func lostPageOfNames(table: String) throws {
        try writeDay()
        var bytes = try read()
        let page = place(of: try #require(try pages(table, "leaf").first))
        for offset in 0..<Schema.pageSize { bytes[page + offset] = 0xEE }
        try write(bytes)
        let (report, samples, _) = try repaired()
        #expect(samples == 86_400 && report.chunks == 0)
        #expect(report.tables.map(\.table) == [table])
    }

    @Test("Lost firings are reported although no samples are lost")
    func lostFirings() throws {
        try writeDay()
        var bytes = try read()
        let leaves = try pages("firing", "leaf")
        let page = place(of: leaves[leaves.count / 2])
        for offset in 0..<Schema.pageSize { bytes[page + offset] = 0xEE }
        try write(bytes)
        let (report, samples, firings) = try repaired()
        #expect(samples == 86_400 && report.chunks == 0 && (200..<400).contains(firings))
        #expect(
            report.tables.map(\.description) == [
                "firings of rules: some may be lost, because one of their pages is damaged"
            ])
    }

    @Test(
        "A chunk whose end was changed to a time in the far future is read with a valid end", arguments: [55, 60, 62])
    func changedUntil(bit: Int) throws {
        try writeDay()
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            try database.execute(
                sql: "UPDATE chunk SET until = until + ? WHERE id = (SELECT max(id) FROM chunk)",
                arguments: [Int64(1) << Int64(bit)])
        }
        try queue.close()
        let history = try PowerHistory(directory.path, role: .reader)
        let end = try #require(try history.plugs().first?.span?.upperBound)
        #expect(end > midnight && end <= SQLRow.timeLimit)
        _ = try history.summaries(of: lamp, step: .hour, from: 0, to: .max)
        _ = try repaired()
    }

    @Test("A pipe in place of the database or of one of its files is refused", arguments: ["", "-wal", "-journal"])
    func pipes(suffix: String) throws {
        if !suffix.isEmpty { try writeDay() }
        #expect(mkfifo(path + suffix, 0o600) == 0)
        for role in [PowerHistory.Role.reader, .writer, .recorder] {
            let error = #expect(throws: HistoryError.self) { try PowerHistory(directory.path, role: role) }
            #expect(error?.reason == .file(FileError(.open, path + suffix, .notRegular(.pipe))))
        }
        #expect(throws: HistoryError.self) { try PowerHistory.repair(path, into: other.path) }
        #expect(throws: HistoryError.self) { try PowerHistory.repair("/dev/ptmx", into: other.path + "/device") }
    }

    @Test("A repair of a sparse file of 10 GiB copies all samples")
    func holes() throws {
        try writeDay()
        var bytes = try read()
        bytes[0] = 0
        try write(bytes)
        truncate(path, 10 << 30)
        let (report, samples, _) = try repaired()
        #expect(samples == 86_400 && report.chunks == 0)
    }

    @Test("A repair of a history of a later version fails, and does not block the next attempt")
    func laterVersion() throws {
        try writeDay()
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
        #expect(throws: HistoryError(.newer, path)) { try PowerHistory.repair(path, into: other.path + "/copy") }
        try queue.write { try $0.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = '99'") }
        try queue.close()
        try PowerHistory.repair(path, into: other.path + "/copy")
        #expect(throws: HistoryError(.occupied, other.path + "/copy")) {
            try PowerHistory.repair(path, into: other.path + "/copy")
        }
    }

    @Test("A repair with a missing index or a damaged list of versions copies all samples")
    func missingIndex() throws {
        try writeDay()
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: "DROP INDEX chunk_by_time") }
        #expect(try repaired().samples == 86_400)
        try queue.write { try $0.execute(sql: "UPDATE grdb_migrations SET identifier = 's' WHERE identifier = '3'") }
        #expect(try repaired().samples == 86_400)
        try queue.write { try $0.execute(sql: "DROP TABLE grdb_migrations") }
        #expect(try repaired().samples == 86_400)
        try queue.close()
    }
}
