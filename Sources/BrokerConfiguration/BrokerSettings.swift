public import ConfigurationFiles
public import DurableFiles
public import PlugTopics

/// Which broker is spoken to, and how: `broker.toml` of a house, `[mqtt]` in `plugd.toml` of a plug.
public struct BrokerSettings: Hashable, Sendable {
    /// Bytes of a file that are read.
    public static let fileLimit = ConfigurationText.limit

    public let account: BrokerAccount
    public let tree: TopicTree
    public let takesCommands: Bool
    /// Nil: Home Assistant is told nothing.
    public let discovery: HomeAssistantDiscovery?

    /// Reads them (TOML):
    ///
    /// ```toml
    /// [broker]
    /// host = "broker.local"             # or several of a cluster: ["a.local", "b.local:8884"]
    /// tls = "on"
    /// user = "house"
    /// password_file = "broker-password" # beside this file
    /// house = "home"
    ///
    /// [home_assistant]
    /// discovery = true
    /// ```
    ///
    /// - Parameters:
    ///   - file: its path: files that it names are looked for beside it.
    ///   - home: of the user, for names that begin with `~/`.
    /// - Throws: `ConfigurationError` with everything that is wrong.
    public init(_ bytes: [UInt8], file: String, home: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        let settings = BrokerSettings(reader, table: "broker", file: file, home: home)
        reader.tellUnknown()
        guard reader.mistakes.isEmpty, let settings else {
            throw ConfigurationError(file: file, mistakes: reader.mistakes)
        }
        self = settings
    }

    /// Reads a table with these keys, and `[home_assistant]`, out of a file that may have others.
    ///
    /// - Parameters:
    ///   - isOptional: the table need not be there.
    ///   - home: nil: no name begins with `~/`.
    /// - Returns: nil where it is not there, and where it cannot be used: the reader has the mistakes.
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

    /// How a speaker's connection is opened, with its last will.
    ///
    /// - Parameter client: the name of the session at the broker; no other connection may have it.
    /// - Throws: where the password's file is missing, or others may read it.
    public func options(client: String, for speaker: BrokerMachine.Speaker) throws(FileError) -> BrokerOptions {
        var options = try account.options(client: client)
        (options.willTopic, options.willText) = (tree.will(of: speaker), "offline")
        return options
    }
}
