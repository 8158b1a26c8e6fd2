import DurableFiles

/// Why a database did not do what it was asked for.
public struct PostgreSQLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// In the server's or libpq's words, one line.
    public var description: String
    /// SQLSTATE of the server's answer; nil where it gave none, and the connection is of no use any more.
    public var state: String?

    public init(_ description: String, state: String? = nil) {
        self.description = description
        self.state = state
    }

    /// What to do about it; nil where nobody knows.
    public var hint: String? {
        switch state {
        case "28P01", "28000": "see user and password_file, and pg_hba.conf of the server"
        case "3D000": "create the database first: createdb"
        case "42501": "let the owner of the schema do it, or grant the role what it needs"
        case "53100": "make room on the disk of the database"
        case nil where description.contains("libpq.so.5"): "apt install libpq5"
        case nil, .some: nil
        }
    }
}
