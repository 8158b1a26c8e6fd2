import Foundation
import LinuxSystem

/// Manages the sessions and stores them in a file, so that they survive the process.
actor SessionKeeper {
    /// The maximum size in bytes. A session has about 400 bytes.
    private static let fileLimit = 512 * Sessions.most
    /// The minimum time in seconds between two writes that store only the last use of sessions. More frequent writes
    /// would wear out a memory card.
    private static let useIsStoredAfter: Int64 = 600

    private let path: String
    private let files: FileStore
    private let pause: Duration
    private let complain: @Sendable (String) -> Void
    private var sessions: Sessions
    private var stored: Int64 = 0
    /// The ids of the sessions in the file.
    private var storedIDs: Set<String>
    /// Counts the changes, so that a caller can wait until a change is stored.
    private var changes: UInt64 = 0
    private var storedChanges: UInt64 = 0
    private var failure: (changes: UInt64, error: FileError)?
    /// The pause after a write; nil if a write can begin at once.
    private var pausing: Task<Void, Never>?

    /// Reads the stored sessions.
    ///
    /// - Parameters:
    ///   - pause: the minimum time between two writes. It stops a browser that logs in and out in a loop from wearing
    ///     out a memory card.
    ///   - complain: called with a message in two cases: the file cannot be read, so the stored sessions are lost; or
    ///     it cannot be written, so the current sessions will be lost when the process ends.
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
            complain("the sessions cannot be read, so users have to log in again: \(DashboardFault(error))")
        }
        storedIDs = Set(sessions.all.map(\.id))
    }

    var all: [Session] { sessions.all }

    /// Begins a session.
    ///
    /// - Parameter password: the id of the password.
    /// - Returns: the value of the cookie.
    func begin(_ password: String, device: String, address: String, now: Int64) -> String {
        let cookie = sessions.begin(password, device: device, address: address, now: now)
        storeSoon(now: now)
        return cookie
    }

    /// Returns the session of the first valid cookie and updates its last use; nil if no cookie is valid.
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
    /// - Returns: the ended sessions.
    /// - Throws: `FileError` if the sessions have ended but would return after a restart.
    func end(of cookies: [String], now: Int64) async throws(FileError) -> [Session] {
        let ended = cookies.compactMap { sessions.session(of: $0) }.compactMap { sessions.end($0.id) }
        try await storeEnd(of: ended, now: now)
        return ended
    }

    /// Ends one session or all.
    ///
    /// - Parameter id: the id of the session; nil for all.
    /// - Returns: the ended sessions.
    /// - Throws: as ``end(of:now:)``.
    func end(_ id: String?, now: Int64) async throws(FileError) -> [Session] {
        let ended = id.map { [sessions.end($0)].compactMap(\.self) } ?? sessions.endAll()
        try await storeEnd(of: ended, now: now)
        return ended
    }

    /// Ends expired sessions and sessions of removed passwords. Validity is also checked on each use, so a failed write
    /// does no harm.
    func keep(ofPasswords passwords: Set<String>, now: Int64) {
        if sessions.keep(ofPasswords: passwords, now: now) { storeSoon(now: now) }
    }

    /// Stores the sessions with their last use when the daemon stops.
    func stop(now: Int64) {
        pausing?.cancel()
        pausing = nil
        if stored > 0 || !sessions.all.isEmpty { try? store(now: now) }
    }

    // MARK: Writes

    /// Stores the change at once, or after the pause that follows a write.
    private func storeSoon(now: Int64) {
        changes += 1
        if pausing == nil { storeOrComplain(now: now) }
    }

    /// Returns when the file no longer contains these sessions, so that they stay ended after a restart. Sessions that
    /// are not in the file need no write.
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
            complain("sessions cannot be saved and will be lost on restart: \(DashboardFault(error))")
        }
    }

    private func beginPause(now: Int64) {
        pausing = Task { [weak self, pause] in
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            await self?.endPause(now: now)
        }
    }

    /// Stores the changes of the pause. A session that began and ended within the pause needs no write.
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
