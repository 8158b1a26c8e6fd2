import Foundation
import GRDB
import TestSupport
import Testing

@testable import PowerHistory

/// Tests of the search for keys and rows in the pages of a database. With these keys, a repair finds the rows between
/// two damaged pages.
@Suite struct PageRecordsTests {
    private let directory = TestFolder(on: .memory)
    private let other = TestFolder(on: .memory)
    private var path: String { directory.path + "/history.sqlite" }

    @Test("Keys of all rows are found in the database file and in its write-ahead log", arguments: [false, true])
    func keys(isInLog: Bool) throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        var batch = HistoryBatch()
        let times = [-1, 0, 1, 127, 128, 300, 70_000, 1 << 31, 1 << 40, 1 << 50] + (0..<500).map { 1_000_000 + $0 }
        batch.firings = times.map { StoredFiring(at: Int64($0), rule: "rule", plug: lamp, cause: "a cause") }
        try history.record(batch)
        if !isInLog { try history.queue.close() }
        var found: Set<Int64> = []
        try PageRecords(kind: .keys, columns: "ittt", count: 1).scan(path) {
            if let time = $0.values[0].integer { found.insert(time) }
        }
        #expect(found.isSuperset(of: times.map(Int64.init)))
        var others = 0
        try PageRecords(kind: .keys, columns: "iiiii", count: 3).scan(path) { _ in others += 1 }
        #expect(others == 0)
        withExtendedLifetime(history) {}
    }

    @Test("Rows of a table with row numbers are found with their values")
    func rows() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        var batch = HistoryBatch()
        batch.names[lamp] = "Lamp"
        try history.record(batch)
        try history.queue.close()
        var found: [String] = []
        try PageRecords(kind: .rows, columns: "ntti???", count: 3).scan(path) { record in
            if case .text(let plug) = record.values[1], case .text(let name) = record.values[2] {
                found.append("\(record.row ?? 0) \(plug) \(name)")
            }
        }
        #expect(found == ["1 \(lamp.rawValue) Lamp"])
    }

    @Test("A page of random bytes is parsed without a read outside the page")
    func randomPages() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var page = (0..<Schema.pageSize).map { _ in UInt8.random(in: 0...12, using: &random) }
            page[0] = [0x02, 0x0A, 0x0D].randomElement() ?? 0x02
            page[3] = UInt8.random(in: 0...7, using: &random)
            _ = PageRecords(kind: .keys, columns: "iiiii", count: 3).records(in: page)
            _ = PageRecords(kind: .rows, columns: "ntb?", count: 4).records(in: page)
        }
    }

    @Test("Rows between two damaged pages of firings are copied")
    func betweenDamages() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        var batch = HistoryBatch()
        batch.firings = (0..<1000).map {
            StoredFiring(at: midnight + Int64($0) * 1000, rule: "rule", plug: lamp, cause: "a cause of some words")
        }
        try history.record(batch)
        try history.queue.close()
        let leaves = try DatabaseQueue(path: path).read { database in
            try Int.fetchAll(
                database,
                sql: "SELECT pageno FROM dbstat WHERE name = 'firing' AND pagetype = 'leaf' ORDER BY path")
        }
        #expect(leaves.count > 6)
        for leaf in [leaves[1], leaves[leaves.count - 2]] { try overwritePage(leaf, of: path) }
        try PowerHistory.repair(path, into: other.path + "/copy")
        let copied = try PowerHistory(other.path + "/copy", role: .reader).firings(from: 0, to: .max).count
        #expect(copied > 1000 - 2 * (1000 / leaves.count + 20) && copied < 1000)
    }

    private func overwritePage(_ page: Int, of path: String) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: UInt64((page - 1) * Schema.pageSize))
        try file.write(contentsOf: Data(repeating: 0xEE, count: Schema.pageSize))
        try file.close()
    }
}
