package import ConfigurationFiles
public import DurableFiles
public import PlugTopics

/// Which broker a program speaks to, and how it proves itself there.
public struct BrokerAccount: Hashable, Sendable {
    /// Nodes of a cluster.
    private static let serverLimit = 16
    /// Bytes of a password's file: stops a wrong one from being read as a whole.
    private static let passwordLimit = 4096
    /// Bytes of a file of certificates that are looked at: more than all authorities of the world have.
    private static let pemLimit = 1 << 21

    /// In the order in which they are tried.
    public let servers: [BrokerServer]
    public let trust: BrokerOptions.Trust
    /// Files of a certificate and its key (PEM), where the broker knows its clients by one.
    public let certificate: BrokerOptions.Certificate?
    public let user: String?
    /// It holds the password, and only its owner may read it. It is read for each connection.
    public let passwordFile: String?

    /// Files that programs of rules may not read.
    public var secretPaths: [String] { [passwordFile, certificate?.key].compactMap { $0 } }

    /// Reads it from a table; the table is told what is wrong.
    ///
    /// - Parameters:
    ///   - isOptional: the table need not be there.
    ///   - home: nil: no name begins with `~/`.
    package init(
        _ table: ConfigurationReader.Table, isOptional: Bool = false, file: String, home: String?
    ) {
        func path(_ key: String, _ what: String) -> String? {
            guard let written = table.text(key, what) else { return nil }
            if home == nil, written.hasPrefix("~/") {
                table.wrong(.invalid("a plug has no home directory; write the whole path"), key)
            }
            return ConfigurationReader.path(written, beside: file, home: home ?? "")
        }
        let encryption = table.choice("tls", Encryption.self) ?? .on
        let port = table.integer("port", 1...65_535) ?? (encryption == .on ? 8883 : 1883)
        let hosts = table.texts("host", "the broker's name or address", most: Self.serverLimit) ?? []
        if !table.has("host"), table.isThere || !isOptional {
            table.wrong(.missing("the broker's name or address"), "host")
        }
        servers = hosts.compactMap { host in
            guard let server = BrokerServer(host.text, port: port) else {
                let reason = "\"\(host.text)\" is no name or address, with or without :PORT"
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

    /// How a connection is opened, without a will.
    ///
    /// - Parameter client: the name of the session at the broker; no other connection may have it.
    /// - Throws: where the password's file is missing, or others may read it.
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

    /// The files that it names and that a connection could not use, each once; empty where all is well.
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
    /// `name`, `name:port`, `[address]:port` or an address. Nil for anything else.
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
