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
    private let pause: Duration
    private let complain: @Sendable (String) -> Void
    private var sessions: Sessions
    private var stored: Int64 = 0
    /// The ids of the sessions in the file.
    private var storedIDs: Set<String>
    /// Counts the changes, so that a change can be waited for.
    private var changes: UInt64 = 0
    private var storedChanges: UInt64 = 0
    private var failure: (changes: UInt64, error: FileError)?
    /// Runs between two writes.
    private var pausing: Task<Void, Never>?

    /// - Parameters:
    ///   - pause: the least time between two writes: a browser that logs in and out in a loop wears out no memory card.
    ///   - complain: told where the file cannot be used; whoever is logged in is forgotten with the process then.
    init(
        _ path: String, files: FileStore = FileStore(), pause: Duration = .seconds(1),
        complain: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.path = path
        self.files = files
        self.pause = pause
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
        storedIDs = Set(sessions.all.map(\.id))
    }

    var all: [Session] { sessions.all }

    /// - Parameter password: its id.
    /// - Returns: the browser's cookie.
    func begin(_ password: String, device: String, address: String, now: Int64) -> String {
        let cookie = sessions.begin(password, device: device, address: address, now: now)
        storeSoon(now: now)
        return cookie
    }

    /// The session of one of these cookies; nil where none of them has one.
    func use(_ cookies: [String], address: String, now: Int64) -> Session? {
        for cookie in cookies {
            guard let session = sessions.use(cookie, address: address, now: now) else { continue }
            if now - stored > Self.useIsStoredAfter || now < stored { storeSoon(now: now) }
            return session
        }
        return nil
    }

    /// Ends the sessions of these cookies.
    ///
    /// - Returns: those that were.
    /// - Throws: where they are ended, and would be there again after a restart.
    func end(of cookies: [String], now: Int64) async throws(FileError) -> [Session] {
        let ended = cookies.compactMap { sessions.session(of: $0) }.compactMap { sessions.end($0.id) }
        try await storeEnd(of: ended, now: now)
        return ended
    }

    /// - Parameter id: nil for all.
    /// - Returns: those that were.
    /// - Throws: as ``end(of:now:)``.
    func end(_ id: String?, now: Int64) async throws(FileError) -> [Session] {
        let ended = id.map { [sessions.end($0)].compactMap(\.self) } ?? sessions.endAll()
        try await storeEnd(of: ended, now: now)
        return ended
    }

    /// Ends those whose time is over, and those of passwords that are gone: each is looked at when it is used too, so that it does
    /// not matter where this cannot be stored.
    func keep(ofPasswords passwords: Set<String>, now: Int64) {
        if sessions.keep(ofPasswords: passwords, now: now) { storeSoon(now: now) }
    }

    /// So that when each was last used is not forgotten at an orderly end.
    func stop(now: Int64) {
        pausing?.cancel()
        pausing = nil
        if stored > 0 || !sessions.all.isEmpty { try? store(now: now) }
    }

    // MARK: Writes

    /// Stores the change at once, or after the pause that follows on a write.
    private func storeSoon(now: Int64) {
        changes += 1
        if pausing == nil { storeOrComplain(now: now) }
    }

    /// Returns when no restart brings these sessions back. Sessions that are not in the file need no write.
    private func storeEnd(of ended: [Session], now: Int64) async throws(FileError) {
        guard ended.contains(where: { storedIDs.contains($0.id) }) else { return }
        changes += 1
        let change = changes
        while let pausing {
            await pausing.value
            if storedChanges >= change { return }
            if let failure, failure.changes >= change { throw failure.error }
        }
        beginPause(now: now)
        try store(now: now)
    }

    private func storeOrComplain(now: Int64) {
        beginPause(now: now)
        do throws(FileError) {
            try store(now: now)
        } catch {
            complain("who logs in is forgotten with this process: \(DashboardFault(error))")
        }
    }

    private func beginPause(now: Int64) {
        pausing = Task { [weak self, pause] in
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            await self?.endPause(now: now)
        }
    }

    /// Stores what changed meanwhile: a session that began and ended within the pause is no change.
    private func endPause(now: Int64) {
        pausing = nil
        guard changes > storedChanges, changes > failure?.changes ?? 0 else { return }
        let ids = Set(sessions.all.map(\.id))
        if ids == storedIDs, now - stored <= Self.useIsStoredAfter {
            storedChanges = changes
        } else {
            storeOrComplain(now: now)
        }
    }

    private func store(now: Int64) throws(FileError) {
        stored = now
        let ids = Set(sessions.all.map(\.id))
        guard let json = try? JSONEncoder().encode(sessions.all) else {
            preconditionFailure("a session holds only text and whole numbers")
        }
        do throws(FileError) {
            if let slash = path.lastIndex(of: "/") { try files.makeDirectories(String(path[..<slash])) }
            try files.replaceSecret(path, with: Array(json))
        } catch {
            failure = (changes, error)
            throw error
        }
        (storedIDs, storedChanges, failure) = (ids, changes, nil)
    }
}
