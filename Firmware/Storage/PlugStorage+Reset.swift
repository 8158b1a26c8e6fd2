import Appliance
public import DurableFiles
public import PlugModel

extension PlugStorage {
    /// Gives the directories back, for another value to take them. Nothing is written to the mirror any more.
    public func close() {
        locks = []
        isClosed = true
    }

    /// Sets back a plug that does not run. What its next start does besides costs nothing and loses nothing.
    ///
    /// - Throws: `FileError`, with the reason `held` where the plug runs; ``NoPlugError`` where there is none, so that a wrong
    ///   path costs nobody his files.
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
        // The next start finishes it, and tells the controllers' next events why those before are gone.
        try reset.clear(boot: boot)
    }

    /// What the value before left to be done. Nil where that is nothing; else whether all of it is done.
    static func carryOutReset(
        _ reset: FactoryReset, boot: BootID, code: CodeAfterReset, _ random: inout some RandomNumberGenerator,
        _ troubles: inout Troubles
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

/// A directory that holds no plug.
public struct NoPlugError: Error, Hashable, Sendable, CustomStringConvertible {
    public let directory: String

    public var description: String {
        "\(directory) holds no plug's id, so nothing was reset\nhint: is this the plug's --state directory?"
    }
}
