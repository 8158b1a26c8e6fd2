public import ConfigurationFiles
public import PostgreSQL

/// The receivers of the history: `history.toml`.
public struct HistorySettings: Sendable {
    /// The limit of a file in bytes.
    public static let fileLimit = ConfigurationText.limit
    /// The limit of labels per house, so that a remote-write series does not exceed the limit of its receivers (usually
    /// 30).
    private static let labelLimit = 16
    /// The limit of a label's value in bytes.
    private static let labelLength = 128

    /// A server that accepts Prometheus remote write.
    public struct RemoteWrite: Sendable {
        /// The authentication at the server.
        public enum Credentials: Sendable {
            /// No authentication.
            case open
            /// HTTP Basic authentication with the password in a file.
            case password(user: String, file: String)
            /// A bearer token in a file.
            case token(file: String)
        }

        /// The address of the server, with http or https.
        public var url: String
        /// The authentication at the server.
        public var credentials: Credentials
        /// The interval between two checks for changes.
        public var interval: Duration
        /// A file with certificate authorities for the server (PEM); nil for those of the machine.
        public var authority: String?
    }

    /// The name of this house in the database and in labels.
    public let house: String
    /// The labels of this house, sorted by key.
    public let labels: [(key: String, value: String)]
    /// The database; nil for none.
    public let database: PostgreSQLSettings?
    /// True if the database gets each sample as a row, in addition to the chunks.
    public let samples: Bool
    /// The remote-write server; nil for none.
    public let remoteWrite: RemoteWrite?

    /// Files that programs of rules must not read.
    public var secretPaths: [String] {
        var paths = [database?.passwordFile].compactMap(\.self)
        switch remoteWrite?.credentials {
        case .password(_, let file), .token(let file): paths.append(file)
        case .open, nil: break
        }
        return paths
    }

    /// Reads the settings (TOML):
    ///
    /// ```toml
    /// [house]
    /// name = "elm-street-5"
    ///
    /// [labels]
    /// city = "Bonn"
    ///
    /// [postgresql]
    /// host = "database.local"
    /// user = "smartplug"
    /// password_file = "database-password"   # relative to this file
    ///
    /// [remote_write]
    /// url = "https://metrics.local/api/v1/write"
    /// token_file = "metrics-token"
    /// ```
    ///
    /// - Parameters:
    ///   - file: the path of the file; the files that it names are relative to its directory.
    ///   - home: the user's home directory, for names that begin with `~/`.
    /// - Throws: `ConfigurationError` with all errors.
    public init(_ bytes: [UInt8], file: String, home: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        func path(_ written: String) -> String { ConfigurationReader.path(written, beside: file, home: home) }
        let table = reader.table("house")
        let house = table.text("name", "the name of this house", longest: 100)
        if house == nil, !table.has("name") { table.wrong(.missing("the name of this house"), "name") }
        self.house = house ?? ""
        labels = Self.labels(reader.table("labels"))
        let database = reader.table("postgresql")
        samples = database.boolean("samples") ?? true
        self.database = PostgreSQLSettings(database, path: path)
        remoteWrite = RemoteWrite(reader.table("remote_write"), path: path)
        reader.reportUnknown()
        guard reader.mistakes.isEmpty else { throw ConfigurationError(file: file, mistakes: reader.mistakes) }
    }

    private static func labels(_ table: ConfigurationReader.Table) -> [(key: String, value: String)] {
        let keys = table.values.keys.sorted()
        if keys.count > labelLimit {
            table.wrong(.outOfRange(found: "\(keys.count) labels", allowed: "at most \(labelLimit)"))
        }
        return keys.compactMap { key -> (key: String, value: String)? in
            guard let value = table.text(key, "a label's value", longest: labelLength) else { return nil }
            guard isLabelName(key) else {
                let reason = "a label's name has lower-case letters, digits and _, and begins with a letter"
                table.wrong(.invalid(reason), key)
                return nil
            }
            guard !["house", "plug", "id"].contains(key) else {
                table.wrong(.invalid("every series already has a label with this name"), key)
                return nil
            }
            return (key, value)
        }
    }

    private static func isLabelName(_ name: String) -> Bool {
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte) }
        return name.utf8.count <= 64 && name.utf8.first.map(isLetter) == true
            && name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }
}

extension HistorySettings.RemoteWrite {
    private static let intervals = 1...3600

    /// Returns nil if the table is missing or not valid.
    fileprivate init?(_ table: ConfigurationReader.Table, path: (String) -> String) {
        let url = table.text("url", "an address of a web server", longest: 1024)
        let user = table.text("user", "a name")
        let passwordFile = table.text("password_file", "a file").map(path)
        let tokenFile = table.text("token_file", "a file").map(path)
        authority = table.text("ca", "a file of certificates").map(path)
        interval = .seconds(table.integer("interval", Self.intervals, "s") ?? 15)
        guard table.isThere else { return nil }
        switch (user, passwordFile, tokenFile) {
        case (nil, nil, nil): credentials = .open
        case (let user?, let file?, nil): credentials = .password(user: user, file: file)
        case (nil, nil, let file?): credentials = .token(file: file)
        case (nil, _?, nil):
            table.wrong(.missing("the user of the password"), "user")
            return nil
        case (_?, nil, nil):
            table.wrong(.missing("the file with the password"), "password_file")
            return nil
        case (_, _, _?):
            table.wrong(.needless("use token_file, or user and password_file, but not both"), "token_file")
            return nil
        }
        guard let url else {
            if !table.has("url") { table.wrong(.missing("the address that receives remote write"), "url") }
            return nil
        }
        guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
            table.wrong(.invalid("\"\(url)\" does not begin with https:// or http://"), "url")
            return nil
        }
        self.url = url
    }
}
