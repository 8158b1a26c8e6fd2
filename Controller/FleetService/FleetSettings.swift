public import BrokerConfiguration
public import ConfigurationFiles
public import Fleet
public import PostgreSQL
import PlugTopics

/// Many houses: where their history and their broker are, and who may do what in which of them: `fleet.toml`.
public struct FleetSettings: Sendable {
    /// Bytes of a file that are read.
    public static let fileLimit = ConfigurationText.limit
    /// Houses that a line names. What is more is named by its beginning.
    private static let houseLimit = 1000
    /// The person who types `plugctl fleet`, or is at the daemon's local socket.
    public static let commandLine = "plugctl"

    public let database: PostgreSQLSettings
    /// Nil: nobody switches.
    public let broker: BrokerAccount?
    /// Of the topics of all houses.
    public let prefix: String
    private let rights: [String: FleetRights]

    /// Files that programs of rules may not read.
    public var secretPaths: [String] { [database.passwordFile].compactMap(\.self) + (broker?.secretPaths ?? []) }

    /// - Parameter name: of a password of the dashboard; nil for a person at this machine.
    public func rights(of name: String?) -> FleetRights { rights[name ?? Self.commandLine] ?? FleetRights() }

    /// Reads them (TOML):
    ///
    /// ```toml
    /// [postgresql]
    /// host = "database.local"
    /// user = "fleet"
    /// password_file = "fleet-database-password"   # beside this file
    ///
    /// [broker]
    /// host = "broker.local"
    /// user = "fleet"
    /// password_file = "fleet-broker-password"
    ///
    /// [owner]
    /// plugctl = "*"
    ///
    /// [user]
    /// Anna = ["elm-street-5", "oak-*"]
    ///
    /// [viewer]
    /// Reception = "*"
    /// ```
    ///
    /// - Parameters:
    ///   - file: its path: files that it names are looked for beside it.
    ///   - home: of the user, for names that begin with `~/`.
    /// - Throws: `ConfigurationError` with everything that is wrong.
    public init(_ bytes: [UInt8], file: String, home: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        func path(_ written: String) -> String { ConfigurationReader.path(written, beside: file, home: home) }
        let table = reader.table("postgresql")
        let database = PostgreSQLSettings(table, path: path)
        if !table.isThere { table.wrong(.missing("the database that the houses' histories go to")) }
        let brokerTable = reader.table("broker")
        prefix = brokerTable.text("prefix", "topic levels") ?? "smartplug"
        do throws(TopicError) {
            _ = try TopicTree(prefix: prefix, house: "home")
        } catch {
            brokerTable.wrong(.invalid(error.description), "prefix")
        }
        broker = brokerTable.isThere ? BrokerAccount(brokerTable, file: file, home: home) : nil
        rights = Self.rights(reader)
        reader.tellUnknown()
        guard reader.mistakes.isEmpty, let database else {
            throw ConfigurationError(file: file, mistakes: reader.mistakes)
        }
        self.database = database
    }

    private static func rights(_ reader: ConfigurationReader) -> [String: FleetRights] {
        var rights: [String: FleetRights] = [:]
        for role in FleetRights.order {
            let table = reader.table(role.rawValue)
            for person in table.values.keys.sorted() {
                for item in table.texts(person, "houses", most: houseLimit) ?? [] {
                    guard let houses = FleetRights.Houses(item.text) else {
                        let reason =
                            "\"\(item.text)\" is no house; write its name, the beginning of names and *, or * for all"
                        table.wrong(.invalid(reason), person, line: item.line)
                        continue
                    }
                    rights[person, default: FleetRights()].add(role, in: houses)
                }
            }
        }
        return rights
    }
}
