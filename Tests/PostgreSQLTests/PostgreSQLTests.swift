import ConfigurationFiles
import LinuxSystem
import TestSupport
import Testing

@testable import PostgreSQL

@Suite struct PostgreSQLTests {
    private let directory = TestFolder(on: .memory)

    @Test("Rows have PostgreSQL's binary format") func rowsAreAsPostgreSQLReadsThem() {
        var rows = BinaryRows()
        rows.begin(columns: 3)
        rows.add(Int32(-2))
        rows.add(Float?.none)
        rows.add(time: 946_684_800_001)
        rows.begin(columns: 2)
        rows.add("a\0b")
        rows.add(json: "{}")
        #expect(rows.count == 2)
        let body = Array(rows.finished.dropFirst(19))
        let expected: [UInt8] =
            [0, 3, 0, 0, 0, 4, 255, 255, 255, 254, 255, 255, 255, 255, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 3, 232]
            + [0, 2, 0, 0, 0, 3, 97, 32, 98, 0, 0, 0, 3, 1, 123, 125, 255, 255]
        #expect(body == expected)
    }

    @Test("Times beyond PostgreSQL's range are clamped") func timesThatNoDatabaseHasStayInRange() {
        var rows = BinaryRows()
        rows.begin(columns: 2)
        rows.add(time: .max)
        rows.add(time: .min)
        #expect(rows.finished.count == 19 + 2 + 12 + 12 + 2)
    }

    @Test("A password file that other users can read is rejected") func aPasswordThatOthersMayReadIsNone() throws {
        let path = directory.path + "/password"
        try FileStore().replace(path, with: Array("secret\n".utf8), mode: 0o644)
        var settings = PostgreSQLSettings(host: "127.0.0.1", passwordFile: path)
        #expect(throws: FileError.self) { try settings.options() }
        try FileStore().replaceSecret(path, with: Array("secret\n".utf8))
        #expect(try settings.options().contains { $0 == ("password", "secret") })
        settings.encryption = .verified(authority: "/ca.pem")
        #expect(try settings.options().contains { $0 == ("sslmode", "verify-full") })
    }

    @Test("The error for an unreachable server is one line") func whoIsNotThereIsToldInOneLine() {
        let connection = PostgreSQLConnection(patience: .seconds(5))
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.connect(PostgreSQLSettings(host: directory.path, port: 5432))
        }
        #expect(error?.state == nil && error.map { !$0.description.isEmpty && !$0.description.contains("\n") } ?? false)
        #expect(throws: PostgreSQLError.self) { try connection.rows("SELECT 1") }
    }

    @Test("A connection that was given up fails without waiting") func whoGivesUpWaitsForNothing() {
        let connection = PostgreSQLConnection(patience: .seconds(60))
        connection.giveUp()
        // A reserved address (RFC 5737) without a host.
        #expect(throws: PostgreSQLError.self) { try connection.connect(PostgreSQLSettings(host: "192.0.2.1")) }
    }
}
