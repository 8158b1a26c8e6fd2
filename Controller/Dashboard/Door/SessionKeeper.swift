import DurableFiles
import Foundation

/// The sessions, and the file in which they outlive the process.
actor SessionKeeper {
    /// Bytes. A session has some four hundred.
    private static let fileLimit = 512 * Sessions.most
    /// Seconds after which it is stored that sessions were used: more often would wear out a memory card.
    private static let useIsStoredAfter: Int64 = 600

    private let path: String
    private let files: FileStore
    private let complain: @Sendable (String) -> Void
    private var sessions: Sessions
    private var stored: Int64 = 0

    /// - Parameter complain: told where the file cannot be used; whoever is logged in is forgotten with the process then.
    init(_ path: String, files: FileStore = FileStore(), complain: @escaping @Sendable (String) -> Void = { _ in }) {
        self.path = path
        self.files = files
        self.complain = complain
        do throws(FileError) {
            let bytes = try files.readSecretIfPresent(path, limit: Self.fileLimit)
            let told = bytes.flatMap { try? JSONDecoder().decode([Session].self, from: Data($0)) }
            if bytes != nil, told == nil { throw FileError(.read, path, .damaged) }
            sessions = Sessions(stored: told ?? [])
        } catch {
            sessions = Sessions()
            complain("who was logged in has to log in again: \(DashboardFault(error))")
        }
    }

    var all: [Session] { sessions.all }

    /// - Parameter password: its id.
    /// - Returns: the browser's cookie.
    func begin(_ password: String, device: String, address: String, now: Int64) -> String {
        let cookie = sessions.begin(password, device: device, address: address, now: now)
        do throws(FileError) {
            try store(now: now)
        } catch {
            complain("who logs in is forgotten with this process: \(DashboardFault(error))")
        }
        return cookie
    }

    /// The session of one of these cookies; nil where none of them has one.
    func use(_ cookies: [String], address: String, now: Int64) -> Session? {
        for cookie in cookies {
            guard let session = sessions.use(cookie, address: address, now: now) else { continue }
            // A failure was told when the session was begun.
            if now - stored > Self.useIsStoredAfter || now < stored { try? store(now: now) }
            return session
        }
        return nil
    }

    /// Ends the sessions of these cookies.
    ///
    /// - Returns: whether there were any.
    /// - Throws: where they are ended, and would be there again after a restart.
    func end(of cookies: [String], now: Int64) throws(FileError) -> Bool {
        let ended = cookies.compactMap { sessions.session(of: $0) }.compactMap { sessions.end($0.id) }
        if !ended.isEmpty { try store(now: now) }
        return !ended.isEmpty
    }

    /// - Parameter id: nil for all.
    /// - Returns: those that were.
    /// - Throws: as ``end(of:now:)``.
    func end(_ id: String?, now: Int64) throws(FileError) -> [Session] {
        let ended = id.map { [sessions.end($0)].compactMap(\.self) } ?? sessions.endAll()
        if !ended.isEmpty { try store(now: now) }
        return ended
    }

    /// Ends those whose time is over, and those of passwords that are gone: each is looked at when it is used too, so that it does
    /// not matter where this cannot be stored.
    func keep(ofPasswords passwords: Set<String>, now: Int64) {
        if sessions.keep(ofPasswords: passwords, now: now) { try? store(now: now) }
    }

    /// So that when each was last used is not forgotten at an orderly end.
    func stop(now: Int64) {
        if stored > 0 || !sessions.all.isEmpty { try? store(now: now) }
    }

    private func store(now: Int64) throws(FileError) {
        stored = now
        guard let json = try? JSONEncoder().encode(sessions.all) else {
            preconditionFailure("a session holds only text and whole numbers")
        }
        if let slash = path.lastIndex(of: "/") { try files.makeDirectories(String(path[..<slash])) }
        try files.replaceSecret(path, with: Array(json))
    }
}
