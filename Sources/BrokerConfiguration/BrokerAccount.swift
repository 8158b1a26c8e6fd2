package import ConfigurationFiles
public import LinuxSystem
public import PlugTopics

/// The connection settings for an MQTT broker: its addresses, its trust anchors and the credentials.
public struct BrokerAccount: Hashable, Sendable {
    /// The maximum number of servers of a cluster.
    private static let serverLimit = 16
    /// The maximum size of a password file in bytes. A larger file is rejected, because it is probably a wrong file.
    private static let passwordLimit = 4096
    /// The maximum size of a certificate file in bytes. A file with all public authorities is smaller.
    private static let pemLimit = 1 << 21

    /// The servers in the order of the connection attempts.
    public let servers: [BrokerServer]
    /// The trusted certificates, or `plain` for a connection without TLS.
    public let trust: BrokerOptions.Trust
    /// The files of a client certificate and its key (PEM), for brokers that authenticate clients by certificate; nil
    /// without such files.
    public let certificate: BrokerOptions.Certificate?
    /// The user name, if the broker requires one.
    public let user: String?
    /// The path of the file with the password, or nil without a password. Other users must not be able to read the
    /// file. The program reads the file for each connection.
    public let passwordFile: String?

    /// The secret files. Programs that rules start must not be able to read them.
    public var secretPaths: [String] { [passwordFile, certificate?.key].compactMap { $0 } }

    /// Reads the settings from a table and records its mistakes.
    ///
    /// - Parameters:
    ///   - isOptional: true if the table may be missing.
    ///   - home: the user's home directory, or nil if paths must not begin with `~/`.
    package init(
        _ table: ConfigurationReader.Table, isOptional: Bool = false, file: String, home: String?
    ) {
        func path(_ key: String, _ what: String) -> String? { table.path(key, what, beside: file, home: home) }
        let encryption = table.choice("tls", Encryption.self) ?? .on
        let port = table.integer("port", 1...65_535) ?? (encryption == .on ? 8883 : 1883)
        let hosts = table.texts("host", "the broker's name or address", most: Self.serverLimit) ?? []
        if !table.has("host"), table.isThere || !isOptional {
            table.wrong(.missing("the broker's name or address"), "host")
        }
        servers = hosts.compactMap { host in
            guard let server = BrokerServer(host.text, port: port) else {
                let reason = "\"\(host.text)\" is not a name or address, with or without :PORT"
                table.wrong(.invalid(reason), "host", line: host.line)
                return nil
            }
            return server
        }
        let authority = path("ca", "a file of certificates")
        trust = encryption == .off ? .plain : authority.map { .file($0) } ?? .machine
        let chain = path("certificate", "a file with a certificate")
        let key = path("key", "a file with a private key")
        if chain == nil, key != nil { table.wrong(.missing("the certificate of the key"), "certificate") }
        if chain != nil, key == nil { table.wrong(.missing("the private key of the certificate"), "key") }
        certificate = chain.flatMap { chain in key.map { BrokerOptions.Certificate(chain: chain, key: $0) } }
        if encryption == .off {
            for name in ["ca", "certificate", "key"] where table.has(name) {
                table.wrong(.needless("tls is off"), name)
            }
        }
        user = table.text("user", "a name")
        passwordFile = path("password_file", "a file")
        if passwordFile != nil, user == nil { table.wrong(.missing("the name that goes with the password"), "user") }
    }

    private enum Encryption: String, CaseIterable {
        case on, off
    }

    /// Returns the options of a connection without a will.
    ///
    /// - Parameter client: the client identifier. No other connection to the broker may use it.
    /// - Throws: ``FileError`` if the password file is missing or other users may read it.
    public func options(client: String) throws(FileError) -> BrokerOptions {
        var options = BrokerOptions(client: client, trust: trust)
        options.certificate = certificate
        options.user = user
        options.password = try password()
        return options
    }

    private func password() throws(FileError) -> String? {
        guard let passwordFile else { return nil }
        guard var bytes = try FileStore().readSecretIfPresent(passwordFile, limit: Self.passwordLimit) else {
            throw FileError(.open, passwordFile, .system(.notFound))
        }
        while let last = bytes.last, [0x0A, 0x0D].contains(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The errors of the files that a connection would need, at most one per file. Empty if all files are usable.
    public var faults: [FileError] {
        var faults: [FileError] = []
        do throws(FileError) { _ = try password() } catch { faults.append(error) }
        var files = [certificate?.chain, certificate?.key].compactMap(\.self)
        if case .file(let authority) = trust { files.insert(authority, at: 0) }
        for file in files {
            do throws(FileError) { _ = try FileStore().read(file, limit: Self.pemLimit) } catch { faults.append(error) }
        }
        return faults
    }
}

extension BrokerServer {
    /// Parses `name`, `name:port`, `[address]:port` or an address. Returns nil for any other text.
    fileprivate init?(_ text: String, port: Int) {
        var (host, port) = (Substring(text), port)
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" && Self.port(rest.dropFirst()) != nil else { return nil }
            port = Self.port(rest.dropFirst()) ?? port
        } else if let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon {
            guard let own = Self.port(text[text.index(after: colon)...]) else { return nil }
            (host, port) = (text[..<colon], own)
        }
        let allowed = host.utf8.allSatisfy { byte in
            let character = Character(Unicode.Scalar(byte))
            return character.isASCII && (character.isLetter || character.isNumber || ".-_:%".contains(character))
        }
        guard (1...253).contains(host.utf8.count), allowed else { return nil }
        self.init(host: String(host), port: port)
    }

    private static func port(_ text: Substring) -> Int? {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(text),
            (1...65_535).contains(port)
        else { return nil }
        return port
    }
}
