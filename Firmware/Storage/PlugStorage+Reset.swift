import Appliance
public import LinuxSystem
public import PlugModel

extension PlugStorage {
    /// Releases the directories, so that another `PlugStorage` can use them. The mirror is no longer written.
    public func close() {
        locks = []
        isClosed = true
    }

    /// Resets a plug that is not running. The next start completes the reset.
    ///
    /// - Throws: `FileError` with the reason `held` if the plug runs; ``NoPlugError`` if the directory contains no
    ///   plug, so that a wrong path deletes no files.
    public static func reset(state: String, runtime: String, boot: BootID, files: FileStore = FileStore()) throws {
        var locks = [try DirectoryLock(state, store: files)]
        let id = try files.readIfPresent(state + "/id", limit: 64) ?? []
        guard PlugID(rawValue: String(decoding: id.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)) != nil else {
            throw NoPlugError(directory: state)
        }
        try files.makeDirectories(runtime)
        if runtime != state { locks.append(try DirectoryLock(runtime, store: files)) }
        defer { withExtendedLifetime(locks) {} }
        let reset = FactoryReset(flash: StateDirectory(path: state, files: files), runtime: runtime)
        try reset.order(by: .panel)
        // The next start completes the reset and sends controllers the reason for the gap in events.
        try reset.clear(boot: boot)
    }

    /// Performs a pending reset. Returns nil if none is pending, true after success, and false if it is not complete.
    static func carryOutReset(
        _ reset: FactoryReset, boot: BootID, code: CodeAfterReset, _ random: inout some RandomNumberGenerator,
        _ troubles: inout StorageErrorReporter
    ) -> Bool? {
        do throws(FileError) {
            switch reset.standing {
            case .none: return nil
            case .unknown(let error): throw error
            case .ordered:
                try reset.clear(boot: boot)
                if code == .new { try reset.replaceCode(by: SetupCode(drawnFrom: &random)) }
                try reset.finish()
                return true
            }
        } catch {
            troubles.failed(.clearing, error)
            return false
        }
    }
}

/// The error for a directory without a plug.
public struct NoPlugError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The directory.
    public let directory: String

    public var description: String {
        "\(directory) has no plug id, so nothing was reset\nhint: check that this is the plug's --state directory"
    }
}
