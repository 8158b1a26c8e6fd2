import HTTPTypes
import LinuxSystem
import NIOCore
import PlugModel

/// The authorization of a user.
struct Authorization: Hashable, Sendable {
    var role: Role
    /// The name of the user's password; nil if no password was needed.
    var name: String?
    /// The time at which the authorization expires, in seconds since 1970; nil if it does not expire.
    var until: Int64?
    /// The id of the user's session; nil without a session.
    var session: String?
    /// The id of the user's password; nil if none was needed.
    var password: String?
    /// True if the request came over the local socket.
    var isLocal = false

    /// The authorization of the daemon's own user, at the local socket.
    static let owner = Authorization(role: .owner, isLocal: true)
    /// The authorization of every user of a dashboard without a password.
    static let anyone = Authorization(role: .owner)

    /// The entrances of the user: the ids of the password and the session that must stay valid while the user is
    /// connected (``Login/entrances(isLoopback:)``).
    var entrances: Set<String> {
        guard let password else { return isLocal ? [] : [Login.openEntrance] }
        return Set([password] + (session.map { [Login.entrance(ofSession: $0)] } ?? []))
    }
}

extension Authorization {
    init(_ password: DashboardPassword, session: String? = nil) {
        self.init(
            role: password.role, name: password.name, until: password.until, session: session, password: password.id)
    }
}

/// Authenticates users by password or session cookie, and manages sessions.
struct Login: Sendable {
    let keeper: PasswordKeeper
    let sessions: SessionKeeper
    /// 32 random bytes that survive the process, so that device cookies stay valid.
    let secret: [UInt8]

    /// The state of the passwords for a request from the network.
    private enum Need {
        case none
        /// The stored passwords. If all have expired, the dashboard still requires a password.
        case passwords([DashboardPassword])
        case impossible(Refused)
    }

    /// Returns the authorization of a request.
    ///
    /// - Parameter isLoopback: true if only this machine can connect. Such a dashboard needs no password if none is
    ///   set.
    /// - Throws: `Refused` if the password is missing, wrong or expired, or if there were too many failures.
    func pass(of headers: HTTPFields, from address: SocketAddress?, isLoopback: Bool) async throws(Refused)
        -> Authorization
    {
        switch await need(isLoopback) {
        case .none: return .anyone
        case .impossible(let refused): throw refused
        case .passwords(let passwords):
            if let pass = await session(headers, passwords, from: address) { return pass }
            guard let password = BasicAuthorization.password(in: headers[values: .authorization]) else {
                throw unauthorized("this needs the dashboard's password", headers)
            }
            return Authorization(try await verified(password, passwords, headers, from: address))
        }
    }

    /// Returns whether a password is needed, and the authorization of a request, if any.
    func state(
        of headers: HTTPFields, from address: SocketAddress?, isLoopback: Bool
    ) async -> (isNeeded: Bool, pass: Authorization?) {
        switch await need(isLoopback) {
        case .none: (false, .anyone)
        case .impossible: (true, nil)
        case .passwords(let passwords): (true, await session(headers, passwords, from: address))
        }
    }

    /// Logs in with a password. Returns the values of the session cookie and the device cookie.
    func begin(
        _ password: String, _ headers: HTTPFields, from address: SocketAddress?, isLoopback: Bool
    ) async throws(Refused) -> (session: String, device: String) {
        switch await need(isLoopback) {
        case .none:
            throw Refused(409, "no password is set", hint: "plugctl daemon password sets one")
        case .impossible(let refused): throw refused
        case .passwords(let passwords):
            let found = try await verified(password, passwords, headers, from: address)
            // A new login in a browser replaces its previous session.
            _ = try? await sessions.end(of: SessionCookie.values(in: headers[values: .cookie]), now: seconds)
            let devices = DeviceCookie(secret: secret)
            let cookie = devices.kept(in: headers, among: [found.id])?.cookie
            return (
                await sessions.begin(
                    found.id, device: DeviceDescription.of(headers[.userAgent]), address: address?.ipAddress ?? "",
                    now: seconds),
                cookie ?? devices.make(for: found.id)
            )
        }
    }

    /// Ends the sessions of a request's cookies.
    ///
    /// - Returns: the entrances (``Authorization/entrances``) of the ended sessions.
    func end(_ headers: HTTPFields) async throws(Refused) -> Set<String> {
        do throws(FileError) {
            let ended = try await sessions.end(of: SessionCookie.values(in: headers[values: .cookie]), now: seconds)
            return Set(ended.map { Self.entrance(ofSession: $0.id) })
        } catch {
            throw Self.notStored(error)
        }
    }

    /// Ends one session or all.
    ///
    /// - Parameter id: the id of the session; nil for all.
    /// - Returns: the ended sessions.
    func end(_ id: String?) async throws(Refused) -> [(session: Session, password: DashboardPassword)] {
        let named = await passwordsByID
        do throws(FileError) {
            return try await sessions.end(id, now: seconds).compactMap { one in named[one.password].map { (one, $0) } }
        } catch {
            throw Self.notStored(error)
        }
    }

    /// The valid sessions with their passwords.
    var current: [(session: Session, password: DashboardPassword)] {
        get async {
            let (named, now) = (await passwordsByID, seconds)
            return await sessions.all.filter { Sessions.isValid($0, now: now) }.compactMap { one in
                guard let password = named[one.password], !password.hasEnded(now: now) else { return nil }
                return (one, password)
            }
        }
    }

    /// Returns the entrances (``Authorization/entrances``) of all valid passwords and sessions. A stream must be closed
    /// when one of its entrances is no longer in this set.
    func entrances(isLoopback: Bool) async -> Set<String> {
        switch await need(isLoopback) {
        case .none: return [Self.openEntrance]
        case .impossible: return []
        case .passwords(let passwords):
            let now = seconds
            let ids = Set(passwords.filter { !$0.hasEnded(now: now) }.map(\.id))
            await sessions.keep(ofPasswords: ids, now: now)
            return ids.union(await sessions.all.map { Self.entrance(ofSession: $0.id) })
        }
    }

    static let openEntrance = "none is needed"
    static func entrance(ofSession id: String) -> String { "session \(id)" }

    private func session(
        _ headers: HTTPFields, _ passwords: [DashboardPassword], from address: SocketAddress?
    ) async -> Authorization? {
        let cookies = SessionCookie.values(in: headers[values: .cookie])
        let now = seconds
        guard let session = await sessions.use(cookies, address: address?.ipAddress ?? "", now: now),
            let password = passwords.first(where: { $0.id == session.password }), !password.hasEnded(now: now)
        else { return nil }
        return Authorization(password, session: session.id)
    }

    private func verified(
        _ password: String, _ passwords: [DashboardPassword], _ headers: HTTPFields, from address: SocketAddress?
    ) async throws(Refused) -> DashboardPassword {
        // A device stays known as long as the password that was last accepted from it is valid.
        let now = seconds
        let live = passwords.filter { !$0.hasEnded(now: now) }
        let device = DeviceCookie(secret: secret).kept(in: headers, among: live.map(\.id))
        let isOwners = device.map { device in live.contains { $0.id == device.password && $0.role == .owner } }
        // A connection that is already closed has no address.
        let guesser = LoginThrottleKey(
            network: address?.networkOfGuest ?? "", address: address?.ipAddress ?? "", device: device?.name,
            isOwnersDevice: isOwners ?? false)
        switch await keeper.verify(password, among: passwords, live: live, by: guesser) {
        case .right(let found):
            guard found.hasEnded(now: seconds) else { return found }
            throw unauthorized("this password has expired", headers, hint: "an owner can set a new one")
        case .wrong: throw unauthorized("this is not the password", headers)
        case .wait(let time):
            let seconds = Int(time.inSeconds.rounded(.up))
            throw Refused(429, "too many wrong passwords", hint: "try again in \(seconds) s")
                .with(.retryAfter, "\(seconds)")
        }
    }

    private func need(_ isLoopback: Bool) async -> Need {
        do throws(FileError) {
            let passwords = try await keeper.passwords()
            if !passwords.isEmpty { return .passwords(passwords) }
        } catch {
            return .impossible(Refused(503, "\(error)", hint: error.hint))
        }
        guard !isLoopback else { return .none }
        return .impossible(
            Refused(503, "the dashboard's password was removed", hint: "plugctl daemon password sets one"))
    }

    private var passwordsByID: [String: DashboardPassword] {
        get async {
            let all = (try? await keeper.passwords()) ?? []
            return Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    private static func notStored(_ error: FileError) -> Refused {
        Refused(
            503, "the session is ended, but a restart of the daemon would restore it: \(error)",
            hint: error.hint ?? "plugctl daemon password sets a new password, which ends the sessions of the old one")
    }

    /// Builds the 401 answer. Browsers are not offered Basic authorization: they would open their own dialog instead of
    /// the page's login form.
    private func unauthorized(
        _ error: String, _ headers: HTTPFields, hint: String = "plugctl daemon password sets a new one"
    ) -> Refused {
        let scheme = headers[.secFetchSite] == nil ? "Basic" : "Session"
        return Refused(401, error, hint: hint).with(.wwwAuthenticate, "\(scheme) realm=\"smartplug\"")
    }

    private var seconds: Int64 { WallTime.now.nanosecondsSince1970 / 1_000_000_000 }
}
