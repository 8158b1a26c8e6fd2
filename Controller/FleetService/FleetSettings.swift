public import BrokerConfiguration
public import ConfigurationFiles
public import Fleet
public import PostgreSQL
import PlugTopics

/// The settings in `fleet.toml` for many houses: their database, their broker, and the rights of users.
public struct FleetSettings: Sendable {
    /// The limit of a file in bytes.
    public static let fileLimit = ConfigurationText.limit
    /// The maximum number of entries per user and role. An entry such as `oak-*` selects several houses.
    private static let houseLimit = 1000
    /// The key in the tables of roles for users of `plugctl fleet` and of the daemon's local socket.
    public static let commandLine = "plugctl"

    /// The database that receives the histories of the houses.
    public let database: PostgreSQLSettings
    /// The broker; nil if plugs cannot be switched.
    public let broker: BrokerAccount?
    /// The prefix of the topics of all houses.
    public let prefix: String
    private let rights: [String: FleetRights]

    /// The paths of passwords and keys, which programs of rules must not read.
    public var secretPaths: [String] { [database.passwordFile].compactMap(\.self) + (broker?.secretPaths ?? []) }

    /// Returns the rights of a user, which include no house if the file does not list the name.
    ///
    /// - Parameter name: the name of a dashboard password; nil for a user on this machine.
    public func rights(of name: String?) -> FleetRights { rights[name ?? Self.commandLine] ?? FleetRights() }

    /// Reads the settings (TOML):
    ///
    /// ```toml
    /// [postgresql]
    /// host = "database.local"
    /// user = "fleet"
    /// password_file = "fleet-database-password"   # relative to this file
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
    ///   - file: the path of the settings. Paths in the settings are relative to its directory.
    ///   - home: the user's home directory, for paths that begin with `~/`.
    /// - Throws: `ConfigurationError` with all errors.
    public init(_ bytes: [UInt8], file: String, home: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        func path(_ written: String) -> String { ConfigurationReader.path(written, beside: file, home: home) }
        let table = reader.table("postgresql")
        let database = PostgreSQLSettings(table, path: path)
        if !table.isThere { table.wrong(.missing("the database that receives the houses' histories")) }
        let brokerTable = reader.table("broker")
        prefix = brokerTable.text("prefix", "topic levels") ?? "smartplug"
        do throws(TopicError) {
            _ = try TopicTree(prefix: prefix, house: "home")
        } catch {
            brokerTable.wrong(.invalid(error.description), "prefix")
        }
        broker = brokerTable.isThere ? BrokerAccount(brokerTable, file: file, home: home) : nil
        rights = Self.rights(reader)
        reader.reportUnknown()
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
                            "\"\(item.text)\" is not a house; write its name, the beginning of names with *, or * for all"
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
