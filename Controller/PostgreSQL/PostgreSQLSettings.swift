package import ConfigurationFiles
import LinuxSystem

/// The settings of a PostgreSQL server: the table `[postgresql]` of a file.
public struct PostgreSQLSettings: Sendable {
    /// The encryption of the connection.
    public enum Encryption: Hashable, Sendable {
        case off
        /// TLS with a server certificate that matches the host name and is signed by an authority in a PEM file.
        case verified(authority: String)
    }

    /// The server's name or address, or the directory of its local socket.
    public var host: String
    /// The TCP port; it also selects a local socket.
    public var port: Int
    /// The name of the database.
    public var database: String
    /// The name of the role.
    public var user: String
    /// The file with the password, readable only by its owner. It is read for each connection.
    public var passwordFile: String?
    /// The encryption of the connection.
    public var encryption: Encryption

    /// The path of the machine's certificate authorities on Debian and other systems.
    private static let machineAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    /// Reads the table and reports errors to its reader.
    ///
    /// - Parameter path: resolves the path of a file in the table.
    /// - Returns: nil if the table is missing, or if its `host` is missing or is not a text. With any other error, the
    ///   settings are returned, and the reader has the error.
    package init?(_ table: ConfigurationReader.Table, path: (String) -> String) {
        let written = table.text("host", "the server's name or address")
        let isLocal = written?.hasPrefix("/") ?? false
        let encryption = table.choice("tls", Encrypted.self) ?? (isLocal ? .off : .on)
        let authority = table.text("ca", "a file of certificates").map(path)
        let port = table.integer("port", 1...65_535) ?? 5432
        let database = table.text("database", "a database's name", longest: 63) ?? "smartplug"
        let user = table.text("user", "a role's name", longest: 63) ?? "smartplug"
        let passwordFile = table.text("password_file", "a file").map(path)
        guard table.isThere else { return nil }
        if encryption == .off, authority != nil { table.wrong(.needless("tls is off"), "ca") }
        if encryption == .on, isLocal { table.wrong(.needless("the server is reached by a local socket"), "tls") }
        guard let written else {
            if !table.has("host") { table.wrong(.missing("the server's name or address"), "host") }
            return nil
        }
        self.init(
            host: written, port: port, database: database, user: user, passwordFile: passwordFile,
            encryption: encryption == .off ? .off : .verified(authority: authority ?? Self.machineAuthorities))
    }

    /// Creates settings with the defaults of the configuration file.
    public init(
        host: String, port: Int = 5432, database: String = "smartplug", user: String = "smartplug",
        passwordFile: String? = nil, encryption: Encryption = .off
    ) {
        (self.host, self.port, self.database, self.user) = (host, port, database, user)
        (self.passwordFile, self.encryption) = (passwordFile, encryption)
    }

    private enum Encrypted: String, CaseIterable {
        case on, off
    }

    /// Returns the options for libpq. The environment and libpq's own files have no influence.
    ///
    /// - Throws: `FileError` if the password file exists but cannot be read, or if other users may read it. If the file
    ///   is missing, the password is empty.
    func options() throws(FileError) -> [(key: String, value: String)] {
        var options: [(key: String, value: String)] = [
            ("host", host), ("port", "\(port)"), ("dbname", database), ("user", user),
            ("passfile", "/dev/null/none"), ("application_name", "smartplug"), ("client_encoding", "UTF8"),
            ("gssencmode", "disable"), ("target_session_attrs", "read-write"),
            // A connection that a middlebox dropped ends within half a minute.
            ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "4"),
            ("tcp_user_timeout", "30000"),
        ]
        switch encryption {
        case .off: options.append(("sslmode", "disable"))
        case .verified(let authority): options += [("sslmode", "verify-full"), ("sslrootcert", authority)]
        }
        if let passwordFile, var bytes = try FileStore().readSecretIfPresent(passwordFile, limit: 4096) {
            while let last = bytes.last, [0x0A, 0x0D].contains(last) { bytes.removeLast() }
            options.append(("password", String(decoding: bytes, as: UTF8.self)))
        } else {
            options.append(("password", ""))
        }
        return options
    }
}
