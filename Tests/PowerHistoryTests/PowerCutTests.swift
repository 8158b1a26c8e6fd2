import GRDB
import LinuxSystem
import Metering
import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import PowerHistory

@Suite struct PowerCutTests {
    /// The power cut of this test leaves the database file unchanged, and truncates its write-ahead log at any byte.
    @Test(
        "After a power cut all acknowledged batches are complete, and no other batch is stored in part",
        arguments: 0..<3)
    func everythingAcknowledgedIsThereAndNothingHalf(seed: UInt64) throws {
        let directory = TestFolder(on: .memory)
        let history = try PowerHistory(directory.path, role: .recorder)
        try history.queue.inDatabase { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
        let files = FileStore()
        let path = directory.path + "/history.sqlite"
        func log() throws -> [UInt8] { try files.read(path + "-wal", limit: 1 << 26) }
        var acknowledged: [(bytes: Int, content: [String])] = [(try log().count, try history.content())]
        for part in 0..<8 {
            var batch = batch(
                chunks(from: part * 600, count: 900) { ($0 * 31) % 2000 },
                counters: [reading(second: part * 600, UInt64(part) * 9000)])
            batch.fetched = [FetchedSpan(plug: lamp, boot: firstBoot, span: 0...Int64(part) * 600_000)]
            try history.record(batch)
            acknowledged.append((try log().count, try history.content()))
        }
        let (database, whole) = (try files.read(path, limit: 1 << 26), try log())
        var random = SeededRandom(seed: seed)
        let ends = acknowledged.flatMap { [$0.bytes - 1, $0.bytes] }.filter { $0 <= whole.count }
        for cut in ends + (0..<6).map({ _ in Int.random(in: 0...whole.count, using: &random) }) {
            let after = TestFolder(on: .memory)
            try files.replace(after.path + "/history.sqlite", with: database)
            try files.replace(after.path + "/history.sqlite-wal", with: Array(whole.prefix(cut)))
            let survivor = try PowerHistory(after.path, role: .recorder)
            let expected = try #require(acknowledged.last { $0.bytes <= cut } ?? acknowledged.first)
            #expect(try survivor.content() == expected.content, "cut at \(cut) of \(whole.count)")
            // A batch that is stored again is not duplicated.
            try survivor.record(batch(chunks(from: 4200, count: 900) { ($0 * 31) % 2000 }))
            #expect(try Set(survivor.times()).count == survivor.times().count)
        }
    }
}
