import GRDB
import Glibc
import LinuxSystem
import Metering
import PlugModel
import TestSupport
import Testing

@testable import PowerHistory

/// The readable data that a repair copies from a damaged database.
@Suite struct SalvageTests {
    private let directory = TestFolder(on: .memory)
    private let other = TestFolder(on: .memory)
    private var path: String { directory.path + "/history.sqlite" }

    @Test("A repair copies the roll-ups of lost samples") func whatIsRememberedOfLostSamplesIsCopied() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        let readings = (0...96).map { reading(second: $0 * 900, UInt64($0) * 25_000) }
        try history.record(batch(chunks(from: 0, count: 86_400) { _ in 1000 }, counters: readings))
        let minutes = try history.summaries(of: lamp, step: .minute, from: 0, to: .max)
        let hours = try history.summaries(of: lamp, step: .hour, from: 0, to: .max)
        try history.queue.write { try $0.execute(sql: "DELETE FROM chunk") }
        try PowerHistory.repair(path, into: other.path)
        let copy = try PowerHistory(other.path, role: .reader)
        #expect(try copy.summaries(of: lamp, step: .minute, from: 0, to: .max) == minutes)
        #expect(try copy.summaries(of: lamp, step: .hour, from: 0, to: .max) == hours)
    }

    @Test("A row number far beyond the others does not end the repair")
    func aRowFarBeyondTheOthersEndsNothing() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        try history.record(batch(chunks(from: 0, count: 86_400) { ($0 * 7919) % 20_011 }))
        try history.queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO chunk SELECT 9223372036854775807, plug, boot, first, count, since, until, crc, x'00'
                    FROM chunk WHERE id = 1
                    """)
        }
        #expect(try PowerHistory.repair(path, into: other.path).chunks > 0)
        #expect(try PowerHistory(other.path, role: .reader).times().count == 86_400)
    }

    @Test("A repair with a damaged page of chunks and one of firings loses only the rows of these pages")
    func aDamagedEndCostsOnlyTheEnd() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        let text = String(repeating: "a cause of many words, ", count: 20)
        for day in 0..<3 {
            var day = batch(chunks(from: day * 90_000, count: 86_400) { ($0 * 7919) % 20_011 })
            day.firings = (0..<100).map { number in
                let second = Int64(day.chunks[0].chunk.firstMilliseconds / 1000) + Int64(number)
                return StoredFiring(at: midnight + second * 1000, rule: "rule", plug: lamp, cause: text)
            }
            try history.record(day)
        }
        try history.queue.close()
        // The page with the last chunk, and a page in the middle of the firings.
        let pages = try DatabaseQueue(path: path).read { database in
            try ["chunk", "firing"].map { table in
                try Int.fetchAll(
                    database, sql: "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path",
                    arguments: [table])
            }
        }
        let page = try #require(pages[0].last)
        for page in [page, pages[1][pages[1].count / 2]] {
            let file = try #require(fopen(path, "r+"))
            fseek(file, (page - 1) * Schema.pageSize, SEEK_SET)
            fwrite([UInt8](repeating: 0xEE, count: Schema.pageSize), 1, Schema.pageSize, file)
            fclose(file)
        }
        let lost = try PowerHistory.repair(path, into: other.path).chunks
        #expect((1...10).contains(lost))
        let copy = try PowerHistory(other.path, role: .reader)
        #expect(try copy.times().count > 2 * 86_400)
        let firings = try copy.firings(from: 0, to: .max)
        #expect(firings.count > 250 && firings.count < 300)
    }

    /// Records a day of a lamp with counter readings, in one file.
    private func writeDay() throws -> [PowerSummary] {
        let history = try PowerHistory(directory.path, role: .recorder)
        let readings = (0...96).map { reading(second: $0 * 900, UInt64($0) * 25_000) }
        try history.record(batch(chunks(from: 0, count: 86_400) { ($0 * 7919) % 20_011 }, counters: readings))
        let hours = try history.summaries(of: lamp, step: .hour, from: 0, to: .max)
        try history.queue.close()
        return hours
    }

    private func change(_ change: (UnsafeMutablePointer<FILE>) -> Void) throws {
        let file = try #require(fopen(path, "r+"))
        change(file)
        fclose(file)
    }

    private var length: Int {
        var status = stat()
        stat(path, &status)
        return status.st_size
    }

    @Test("A truncated file is repaired", arguments: [1, 2, 5, 30])
    func aFileThatEndsTooSoonIsRepaired(pages: Int) throws {
        let hours = try writeDay()
        truncate(path, length - pages * Schema.pageSize)
        // SQLite reads nothing from a truncated file.
        #expect(throws: HistoryError.self) { try PowerHistory(directory.path, role: .reader).plugs() }
        let report = try PowerHistory.repair(path, into: other.path)
        let copy = try PowerHistory(other.path, role: .reader)
        #expect(try copy.times().count > 86_400 - pages * 5000)
        if pages < 10 { #expect(try copy.summaries(of: lamp, step: .hour, from: 0, to: .max).count == hours.count) }
        let count = try copy.times().count
        #expect(report.chunks > 0 || count == 86_400)
        #expect(try copy.queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
    }

    @Test("A repair with a wrong byte in the header copies everything", arguments: 0..<100)
    func aWrongByteInTheHeaderCostsNothing(offset: Int) throws {
        let hours = try writeDay()
        try change { file in
            fseek(file, offset, SEEK_SET)
            fputc(0xA5, file)
        }
        let report = try PowerHistory.repair(path, into: other.path)
        let copy = try PowerHistory(other.path, role: .reader)
        #expect(report.chunks == 0 && report.losses == [])
        #expect(try copy.times().count == 86_400)
        #expect(try copy.summaries(of: lamp, step: .hour, from: 0, to: .max) == hours)
        #expect(try FileStore().names(in: other.path).allSatisfy { !$0.hasPrefix("damaged") })
    }

    @Test("A damaged first page is rebuilt", arguments: [0, 100, 104]) func theFirstPageIsMadeAnew(from: Int) throws {
        _ = try writeDay()
        try change { file in
            fseek(file, from, SEEK_SET)
            fwrite([UInt8](repeating: 0xEE, count: Schema.pageSize), 1, Schema.pageSize - from, file)
        }
        try PowerHistory.repair(path, into: other.path)
        #expect(try PowerHistory(other.path, role: .reader).times().count == 86_400)
    }

    @Test("A repair reports a lost span with the energy that is known from the roll-ups")
    func whatIsLostIsToldWithWhatIsKnownOfItsEnergy() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        let readings = (0...96).map { reading(second: $0 * 900, UInt64($0) * 25_000) }
        try history.record(batch(chunks(from: 0, count: 86_400) { _ in 1000 }, counters: readings))
        try history.queue.write { try $0.execute(sql: "DELETE FROM chunk WHERE since >= \(midnight + 43_200_000)") }
        try history.queue.close()
        let report = try PowerHistory.repair(path, into: other.path)
        let loss = try #require(report.losses.first)
        #expect(report.losses.count == 1 && loss.plug == lamp)
        #expect(abs(loss.span.lowerBound - (midnight + 43_200_000)) < 7_200_000)
        #expect(abs(loss.span.upperBound - (midnight + 86_400_000)) < 120_000)
        let hours = Double(loss.span.upperBound - loss.span.lowerBound) / 3_600_000
        #expect(abs(loss.milliwattHours / hours - 100_000) < 1000)
    }

    @Test("A repair of a file that is not a database throws") func whatIsNoDatabaseAtAllIsAnError() throws {
        try FileStore().replace(path, with: Array(repeating: 7, count: 100_000))
        let nothing = HistoryError(.nothingReadable, path)
        #expect(throws: nothing) { try PowerHistory.repair(path, into: other.path) }
        #expect(throws: HistoryError(.absent, directory.path + "/none")) {
            try PowerHistory.repair(directory.path + "/none", into: other.path)
        }
    }
}
