public import ConfigurationFiles
public import LinuxSystem
public import PlugTopics

/// The broker settings: `broker.toml` of a house, or `[mqtt]` in `plugd.toml` of a plug.
public struct BrokerSettings: Hashable, Sendable {
    /// The maximum size of the file in bytes.
    public static let fileLimit = ConfigurationText.limit

    /// The connection settings.
    public let account: BrokerAccount
    /// The topics that the program uses.
    public let tree: TopicTree
    /// True if commands from the broker are accepted.
    public let takesCommands: Bool
    /// The settings of Home Assistant's discovery, or nil if nothing is announced.
    public let discovery: HomeAssistantDiscovery?

    /// Parses a TOML file:
    ///
    /// ```toml
    /// [broker]
    /// host = "broker.local"             # or several of a cluster: ["a.local", "b.local:8884"]
    /// tls = "on"
    /// user = "house"
    /// password_file = "broker-password" # next to this file
    /// house = "home"
    ///
    /// [home_assistant]
    /// discovery = true
    /// ```
    ///
    /// - Parameters:
    ///   - file: the path of the file. Relative paths in it are relative to its directory.
    ///   - home: the user's home directory, for paths that begin with `~/`.
    /// - Throws: `ConfigurationError` with all mistakes.
    public init(_ bytes: [UInt8], file: String, home: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        let settings = BrokerSettings(reader, table: "broker", file: file, home: home)
        reader.reportUnknown()
        guard reader.mistakes.isEmpty, let settings else {
            throw ConfigurationError(file: file, mistakes: reader.mistakes)
        }
        self = settings
    }

    /// Reads the broker settings from a table with the keys of `[broker]`, and from `[home_assistant]`. The file may
    /// have other tables.
    ///
    /// - Parameters:
    ///   - isOptional: true if the table may be missing.
    ///   - home: the user's home directory, or nil if paths must not begin with `~/`.
    /// - Returns: nil if the table is missing or the reader has recorded any mistake.
    package init?(
        _ reader: ConfigurationReader, table name: String, isOptional: Bool = false, file: String, home: String?
    ) {
        let table = reader.table(name)
        account = BrokerAccount(table, isOptional: isOptional, file: file, home: home)
        takesCommands = table.boolean("commands") ?? true
        let prefix = table.text("prefix", "topic levels") ?? "smartplug"
        let house = table.text("house", "a topic level") ?? "home"
        var tree: TopicTree?
        do throws(TopicError) {
            tree = try TopicTree(prefix: prefix, house: house)
        } catch {
            table.wrong(.invalid(error.description), table.has("house") ? "house" : "prefix")
        }
        discovery = Self.discovery(reader.table("home_assistant"))
        guard table.isThere, reader.mistakes.isEmpty, let tree else { return nil }
        self.tree = tree
    }

    private static func discovery(_ table: ConfigurationReader.Table) -> HomeAssistantDiscovery? {
        let isWanted = table.boolean("discovery") ?? true
        let prefix = table.text("prefix", "topic levels") ?? "homeassistant"
        do throws(TopicError) {
            return isWanted ? try HomeAssistantDiscovery(prefix: prefix) : nil
        } catch {
            table.wrong(.invalid(error.description), "prefix")
            return nil
        }
    }

    /// Returns the options of the connection of a house or of a plug, with its last will.
    ///
    /// - Parameter client: the client identifier. No other connection to the broker may use it.
    /// - Throws: ``FileError`` if the password file is missing or other users may read it.
    public func options(client: String, for speaker: BrokerMachine.Speaker) throws(FileError) -> BrokerOptions {
        var options = try account.options(client: client)
        (options.willTopic, options.willText) = (tree.will(of: speaker), "offline")
        return options
    }
}
