public import ConfigurationFiles
import DNSWire
import LinuxSystem
public import Logging
import ServiceDiscovery
public import UnicastDNS

extension DomainSettings {
    /// The limit of the size of a file that contains only these settings.
    public static let fileLimit = 1 << 16

    /// Reads the table `wide_area`, or returns nil if it is missing or has a mistake.
    ///
    /// - Parameters:
    ///   - table: the table, which records the mistakes.
    ///   - file: the path of the configuration file.
    ///   - home: the user's home directory, or nil if paths must not begin with `~/`.
    ///   - canMap: false if the program does not map ports.
    package init?(_ table: ConfigurationReader.Table, file: String, home: String?, canMap: Bool = true) {
        let domain = table.text("domain", "a domain", longest: 253).flatMap { text -> Name? in
            guard let name = try? Name(presentation: text), name != .root, name != DiscoveryNode.domain else {
                table.wrong(.invalid("\"\(text)\" is not a domain of a name server"), "domain")
                return nil
            }
            return name
        }
        let server = table.text("server", "an IP address").flatMap { text -> IPAddress? in
            guard let address = IPAddress(text: text), !address.isLinkLocal else {
                table.wrong(.invalid("\"\(text)\" is not an IP address that is valid beyond one link"), "server")
                return nil
            }
            return address
        }
        let port = table.integer("port", 1...65_535).map { UInt16($0) }
        let access = Access(table, file: file, home: home)
        let mapsPort = canMap ? table.boolean("map_port") ?? false : false
        guard table.isThere else { return nil }
        if !table.has("domain") { table.wrong(.missing("the domain"), "domain") }
        guard let domain, let access, !table.has("server") || server != nil else { return nil }
        self.init(domain: domain, server: server, port: port, access: access, mapsPort: mapsPort)
    }

    /// Reads a file that contains only the table `wide_area`, without `map_port`.
    ///
    /// - Throws: `ConfigurationError` with all mistakes of the file.
    public init(_ bytes: [UInt8], file: String, home: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        let table = reader.table("wide_area")
        let settings = DomainSettings(table, file: file, home: home, canMap: false)
        if !table.isThere { table.wrong(.missing("the domain of the dashboard")) }
        reader.reportUnknown()
        guard reader.mistakes.isEmpty, let settings else {
            throw ConfigurationError(file: file, mistakes: reader.mistakes)
        }
        self = settings
    }

    /// Returns the key by which this host owns its names at a registrar. It is created at the first use. Without
    /// ``Access/firstCome`` it is not stored, because no name depends on it.
    ///
    /// - Parameters:
    ///   - path: the file of the key.
    ///   - logger: receives the reason why the key cannot be stored.
    public func registrationKey(storedIn path: String, _ logger: Logger) -> RegistrationKey {
        guard access == .firstCome else { return RegistrationKey() }
        let files = FileStore()
        do throws(FileError) {
            if let bytes = try files.readSecretIfPresent(path, limit: 64), let key = RegistrationKey(bytes: bytes) {
                return key
            }
            let key = RegistrationKey()
            try files.replaceSecret(path, with: key.bytes)
            return key
        } catch {
            logger.error("the key of the registration cannot be kept, so the name may change after a restart: \(error)")
            return RegistrationKey()
        }
    }
}

extension DomainSettings.Access {
    private enum Method: String, CaseIterable { case update, srp }

    fileprivate init?(_ table: ConfigurationReader.Table, file: String, home: String?) {
        let method = table.choice("method", Method.self) ?? .update
        let keyFile = table.path("key_file", "a file with a key", beside: file, home: home)
        switch method {
        case .update:
            if table.isThere, !table.has("key_file") { table.wrong(.missing("the file with the key"), "key_file") }
            guard let keyFile else { return nil }
            self = .sharedKey(file: keyFile)
        case .srp:
            if table.has("key_file") {
                table.wrong(.needless("with method = \"srp\" the program makes its own key"), "key_file")
            }
            self = .firstCome
        }
    }
}
