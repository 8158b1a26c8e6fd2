import GRDB
import PlugModel
import TestSupport
import Testing

@testable import PowerHistory

@Suite struct MigrationTests {
    private let directory = TestFolder(on: .memory)
    private var path: String { directory.path + "/history.sqlite" }

    /// The schema of the first released version, from which migration must stay possible. A new version adds its tables
    /// below, and needs a test that migrates data to it.
    private static let version1 = [
        "boot": "id INTEGER PRIMARY KEY|plug INTEGER|boot BLOB|origin INTEGER|newest INTEGER",
        "chunk":
            "id INTEGER PRIMARY KEY|plug INTEGER|boot INTEGER|first INTEGER|count INTEGER|since INTEGER|until INTEGER|crc INTEGER"
            + "|bytes BLOB",
        "counter":
            "plug INTEGER PRIMARY KEY|wall INTEGER PRIMARY KEY|boot INTEGER PRIMARY KEY|clock INTEGER|milliwatt_hours INTEGER",
        "event":
            "plug INTEGER PRIMARY KEY|sequence INTEGER PRIMARY KEY|bytes BLOB PRIMARY KEY|at INTEGER|known INTEGER",
        "fetched": "boot INTEGER PRIMARY KEY|first INTEGER PRIMARY KEY|last INTEGER",
        "firing": "at INTEGER PRIMARY KEY|rule TEXT PRIMARY KEY|plug TEXT PRIMARY KEY|cause TEXT PRIMARY KEY",
        "plug":
            "id INTEGER PRIMARY KEY|plug TEXT|name TEXT|longest INTEGER|cursor INTEGER|samples_from INTEGER|minutes_from INTEGER",
        "rollup": "plug INTEGER|step INTEGER|block INTEGER|bytes BLOB",
    ]

    /// The tables that the second version added.
    private static let version2 = [
        "trace": "id INTEGER PRIMARY KEY|trace TEXT|at INTEGER|rule TEXT|fired INTEGER|json TEXT"
    ]

    /// The tables that the third version added.
    private static let version3 = [
        "change":
            "kind INTEGER PRIMARY KEY|plug INTEGER PRIMARY KEY|a INTEGER PRIMARY KEY|b INTEGER PRIMARY KEY|number INTEGER",
        "epoch": "id INTEGER PRIMARY KEY|epoch BLOB|since INTEGER",
        "feed": "last INTEGER",
    ]

    @Test("Each version of the schema has the tables of its release") func versionsAreAsTheyWereReleased() throws {
        let database = try DatabaseQueue()
        try Schema.migrator.migrate(database, upTo: "1")
        #expect(try tables(of: database) == Self.version1)
        try Schema.migrator.migrate(database, upTo: "2")
        #expect(try tables(of: database) == Self.version1.merging(Self.version2) { $1 })
        try Schema.migrator.migrate(database, upTo: "3")
        #expect(try tables(of: database) == Self.version1.merging(Self.version2) { $1 }.merging(Self.version3) { $1 })
    }

    @Test("Migration of the first version keeps its data") func theFirstVersionBecomesTheSecondWithWhatIsInIt() throws {
        let queue = try DatabaseQueue(path: path)
        try Schema.migrator.migrate(queue, upTo: "1")
        try queue.write { try $0.execute(sql: "INSERT INTO firing VALUES (5, 'Hall', '', 'a press')") }
        try queue.close()
        let error = #expect(throws: HistoryError.self) { try PowerHistory(directory.path, role: .reader) }
        #expect(error?.reason == .outdated)
        let history = try PowerHistory(directory.path, role: .recorder)
        #expect(try history.firings(from: 0, to: .max).map(\.rule) == ["Hall"])
        #expect(try history.traces(of: nil, from: 0, to: .max).isEmpty)
    }

    private func tables(of database: DatabaseQueue) throws -> [String: String] {
        let tables = try database.read { database in
            try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'grdb%' ORDER BY name"
            ).map { table in
                let columns = try database.columns(in: table).map {
                    $0.name + " " + $0.type + ($0.primaryKeyIndex > 0 ? " PRIMARY KEY" : "")
                }
                return (table, columns.joined(separator: "|"))
            }
        }
        return Dictionary(uniqueKeysWithValues: tables)
    }

    @Test("A history of a later version is rejected in every role") func aLaterVersionIsLeftAlone() throws {
        try PowerHistory(directory.path, role: .recorder).queue.close()
        try DatabaseQueue(path: path).write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('a version that is yet to come')")
        }
        for role in [PowerHistory.Role.recorder, .writer, .reader] {
            let error = #expect(throws: HistoryError.self) { try PowerHistory(directory.path, role: role) }
            #expect(error?.reason == .newer)
        }
    }

    @Test("A writer creates the tables in a database in which no migration has run")
    func aDatabaseWithoutAnyStepIsMadeByWhoeverWrites() throws {
        // A process that is killed before its first migration leaves such a database.
        try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE unrelated (id INTEGER)") }
        let error = #expect(throws: HistoryError.self) { try PowerHistory(directory.path, role: .reader) }
        #expect(error?.reason == .absent)
        let writer = try PowerHistory(directory.path, role: .writer)
        try writer.record(batch(chunks(from: 0, count: 5) { $0 }))
        #expect(try PowerHistory(directory.path, role: .reader).times().count == 5)
    }
}
