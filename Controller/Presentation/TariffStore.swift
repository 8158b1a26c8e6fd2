public import HouseCalendar
import LinuxSystem

/// The tariff file of a user.
public struct TariffStore: Sendable {
    /// The path of the file.
    public let path: String
    private let files = FileStore()

    /// Refers to a file; by default `tariff.toml` in the user's configuration directory.
    public init(path: String? = nil) { self.path = path ?? UserDirectories.configuration + "/smartplug/tariff.toml" }

    /// Reads the tariff; nil if the file is missing.
    ///
    /// - Throws: `FileError`, or `ConfigurationError` with all mistakes of the file.
    public func read() throws -> Tariff? {
        try files.readIfPresent(path, limit: Tariff.fileLimit).map { try Tariff($0, file: path) }
    }

    /// Checks the tariff and replaces the file. Comments in the previous file are lost.
    ///
    /// - Throws: `ConfigurationError` if the tariff is not valid, or `FileError`; the file then stays as it was.
    public func write(_ record: TariffRecord) throws {
        _ = try record.tariff()
        try files.changing(path) { try files.replace(path, with: Array(record.toml.utf8), mode: 0o644) }
    }

    /// Removes the file. Does nothing if the file is missing.
    ///
    /// - Throws: `FileError`.
    public func remove() throws { try files.changing(path) { try files.removeIfPresent(path) } }
}

extension FileStore {
    /// Creates the directory of a file and holds its lock during the work.
    func changing(_ path: String, _ work: () throws -> Void) throws {
        let directory = parentDirectory(of: path)
        try makeDirectories(directory)
        let lock = try DirectoryLock(directory)
        defer { withExtendedLifetime(lock) {} }
        try work()
    }
}
