import Fleet
import NIOPosix
import PostgreSQL
import Synchronization

/// Read access to the database with the histories of many houses, through one connection that is opened on demand.
final class FleetDatabase: Sendable {
    /// The maximum number of waiting queries. It limits the memory during repeated requests.
    private static let waitingLimit = 16
    private static let patience = Duration.seconds(35)
    /// The statements for a new connection. The server's timeout of 30 s is shorter than `patience`, so no statement
    /// runs longer than its caller waits.
    private static let manners = """
        SET default_transaction_read_only = on; SET statement_timeout = '30s'; SET timezone = 'UTC'
        """

    private let settings: PostgreSQLSettings
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let waiting = Atomic(0)
    private let connection = Mutex<PostgreSQLConnection?>(nil)

    init(_ settings: PostgreSQLSettings) {
        self.settings = settings
        thread.start()
    }

    func rows(_ query: FleetQuery) async throws(FleetFault) -> [[String?]] {
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.waitingLimit else {
            throw FleetFault("too many requests to the database at once", hint: "try again in a moment")
        }
        let result = try? await thread.runIfActive { Result { () throws(PostgreSQLError) in try self.ask(query) } }
        guard let result else { throw FleetFault("the connection to the database was closed") }
        do throws(PostgreSQLError) {
            return try result.get()
        } catch {
            throw FleetFault("the database does not answer: \(error)", hint: Self.hint(error))
        }
    }

    func end() async {
        connection.withLock { $0 }?.giveUp()
        try? await thread.shutdownGracefully()
        connection.withLock { $0 = nil }
    }

    /// Runs a query. Must be called on the thread.
    private func ask(_ query: FleetQuery) throws(PostgreSQLError) -> [[String?]] {
        if let known = connection.withLock({ $0 }) {
            do throws(PostgreSQLError) {
                return try known.rows(query.sql, query.values)
            } catch {
                // An error without a state or of class 57P means that the connection is closed, for example because it
                // was idle. A new connection is opened once.
                guard error.state == nil || error.state?.hasPrefix("57P") == true else { throw error }
                connection.withLock { $0 = nil }
            }
        }
        let new = PostgreSQLConnection(patience: Self.patience)
        try new.connect(settings)
        try new.rows(Self.manners)
        connection.withLock { $0 = new }
        return try new.rows(query.sql, query.values)
    }

    private static func hint(_ error: PostgreSQLError) -> String? {
        switch error.state {
        case "3F000", "42P01":
            "no daemon has sent its history to this database yet; see Documentation/how-to/history-export.md"
        case "42501": "let the owner of the schema admit this role: SELECT smartplug.admit('ROLE', NULL)"
        case "57014": "request fewer houses or a shorter time span"
        default: error.hint ?? "check [postgresql] in fleet.toml"
        }
    }
}
