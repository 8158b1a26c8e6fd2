import LinuxSystem

/// The reason why a database request failed.
public struct PostgreSQLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error of the server or libpq, on one line.
    public var description: String
    /// The SQLSTATE of the server's error; nil if the server sent none, and the connection is then unusable.
    public var state: String?

    /// Creates an error.
    public init(_ description: String, state: String? = nil) {
        self.description = description
        self.state = state
    }

    /// The hint for the user, or nil.
    public var hint: String? {
        switch state {
        case "28P01", "28000": "check user and password_file, and pg_hba.conf of the server"
        case "3D000": "create the database first: createdb"
        case "42501": "ask the owner of the schema to grant this role the missing rights"
        case "53100": "free some space on the disk of the database"
        case nil where description.contains("libpq.so.5"): "apt install libpq5"
        case nil, .some: nil
        }
    }
}
