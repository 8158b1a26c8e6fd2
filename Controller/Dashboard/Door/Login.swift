import DurableFiles
import HTTPTypes
import LinuxClocks
import NIOCore
import PlugModel

/// Somebody who came in, and as whom.
struct Pass: Hashable, Sendable {
    var role: Role
    /// What the password is called by which they came; nil where none was wanted.
    var name: String?
    /// Seconds since 1970 at which it ends; nil for never.
    var until: Int64?
    /// The id of their session; nil where they have none.
    var session: String?
    /// The id of the password by which they came; nil if none was needed.
    var password: String?
    /// The request came over the local socket.
    var isLocal = false

    /// Of the daemon's own user, at the local socket.
    static let owner = Pass(role: .owner, isLocal: true)
    /// Of any user of a dashboard without a password.
    static let anyone = Pass(role: .owner)

    /// What must be valid for as long as the user stays (``Login/entrances(isLoopback:)``).
    var entrances: Set<String> {
        guard let password else { return isLocal ? [] : [Login.openEntrance] }
        return Set([password] + (session.map { [Login.entrance(ofSession: $0)] } ?? []))
    }
}

extension Pass {
    init(_ password: DashboardPassword, session: String? = nil) {
        self.init(
            role: password.role, name: password.name, until: password.until, session: session, password: password.id)
    }
}

/// Who has a password, or has shown that they had it.
struct Login: Sendable {
    let keeper: PasswordKeeper
    let sessions: SessionKeeper
    /// 32 random bytes that outlive the process, so that devices are known again.
    let secret: [UInt8]

    /// What is known of the passwords, for somebody who came in from the network.
    private enum Need {
        case none
        /// Also where none of them is valid any more: what was closed does not open by itself.
        case passwords([DashboardPassword])
        case impossible(Refused)
    }

    /// Who asks.
    ///
    /// - Parameter isLoopback: the door is open to this machine alone; without a password it stands open then.
    func pass(of headers: HTTPFields, from address: SocketAddress?, isLoopback: Bool) async throws(Refused) -> Pass {
        switch await need(isLoopback) {
        case .none: return .anyone
        case .impossible(let refused): throw refused
        case .passwords(let passwords):
            if let pass = await session(headers, passwords, from: address) { return pass }
            guard let password = BasicAuthorization.password(in: headers[values: .authorization]) else {
                throw unauthorized("this needs the dashboard's password", headers)
            }
            return Pass(try await verified(password, passwords, headers, from: address))
        }
    }

    /// Whether a password is wanted, and as whom whoever asks is logged in.
    func state(
        of headers: HTTPFields, from address: SocketAddress?, isLoopback: Bool
    ) async -> (isNeeded: Bool, pass: Pass?) {
        switch await need(isLoopback) {
        case .none: (false, .anyone)
        case .impossible: (true, nil)
        case .passwords(let passwords): (true, await session(headers, passwords, from: address))
        }
    }

    /// The cookies for whoever knows a password: that of the session, and that of the device.
    func begin(
        _ password: String, _ headers: HTTPFields, from address: SocketAddress?, isLoopback: Bool
    ) async throws(Refused) -> (session: String, device: String) {
        switch await need(isLoopback) {
        case .none:
            throw Refused(409, "there is no password", hint: "plugctl daemon password sets one")
        case .impossible(let refused): throw refused
        case .passwords(let passwords):
            let found = try await verified(password, passwords, headers, from: address)
            // Whoever logs in anew at a browser does not leave the session before behind there.
            _ = try? await sessions.end(of: SessionCookie.values(in: headers[values: .cookie]), now: seconds)
            let devices = DeviceCookie(secret: secret)
            let cookie = devices.kept(in: headers, among: [found.id])?.cookie
            return (
                await sessions.begin(
                    found.id, device: DeviceWords.of(headers[.userAgent]), address: address?.ipAddress ?? "",
                    now: seconds),
                cookie ?? devices.make(for: found.id)
            )
        }
    }

    /// Ends the session of whoever asks.
    ///
    /// - Returns: the entrances that are gone with it.
    func end(_ headers: HTTPFields) async throws(Refused) -> Set<String> {
        do throws(FileError) {
            let ended = try await sessions.end(of: SessionCookie.values(in: headers[values: .cookie]), now: seconds)
            return Set(ended.map { Self.entrance(ofSession: $0.id) })
        } catch {
            throw Self.notStored(error)
        }
    }

    /// Ends a session, or all.
    ///
    /// - Parameter id: nil for all.
    /// - Returns: those that it ended.
    func end(_ id: String?) async throws(Refused) -> [(session: Session, password: DashboardPassword)] {
        let named = await passwordsByID
        do throws(FileError) {
            return try await sessions.end(id, now: seconds).compactMap { one in named[one.password].map { (one, $0) } }
        } catch {
            throw Self.notStored(error)
        }
    }

    /// Who is logged in now.
    var current: [(session: Session, password: DashboardPassword)] {
        get async {
            let (named, now) = (await passwordsByID, seconds)
            return await sessions.all.filter { Sessions.isValid($0, now: now) }.compactMap { one in
                guard let password = named[one.password], !password.hasEnded(now: now) else { return nil }
                return (one, password)
            }
        }
    }

    /// Everything by which somebody may come in now. Where something of it is gone, whoever came in by it has to go.
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
    ) async -> Pass? {
        let cookies = SessionCookie.values(in: headers[values: .cookie])
        let now = seconds
        guard let session = await sessions.use(cookies, address: address?.ipAddress ?? "", now: now),
            let password = passwords.first(where: { $0.id == session.password }), !password.hasEnded(now: now)
        else { return nil }
        return Pass(password, session: session.id)
    }

    private func verified(
        _ password: String, _ passwords: [DashboardPassword], _ headers: HTTPFields, from address: SocketAddress?
    ) async throws(Refused) -> DashboardPassword {
        // A device is known for as long as the password is valid by which it became known.
        let now = seconds
        let live = passwords.filter { !$0.hasEnded(now: now) }
        let device = DeviceCookie(secret: secret).kept(in: headers, among: live.map(\.id))
        let isOwners = device.map { device in live.contains { $0.id == device.password && $0.role == .owner } }
        // A connection that is closed already has no address.
        let guesser = Guesser(
            network: address?.networkOfGuest ?? "", address: address?.ipAddress ?? "", device: device?.name,
            isOwnersDevice: isOwners ?? false)
        switch await keeper.verify(password, among: passwords, live: live, by: guesser) {
        case .right(let found):
            guard found.hasEnded(now: seconds) else { return found }
            throw unauthorized("the time of this password is over", headers, hint: "an owner can set a new one")
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
            503, "it is ended, and would be there again after a restart of the daemon: \(error)",
            hint: error.hint ?? "plugctl daemon password sets a new password, which ends the sessions of the old one")
    }

    /// A browser is not told of Basic authorization: it would ask the person in a window of its own, and not by our page.
    private func unauthorized(
        _ error: String, _ headers: HTTPFields, hint: String = "plugctl daemon password sets a new one"
    ) -> Refused {
        let scheme = headers[.secFetchSite] == nil ? "Basic" : "Session"
        return Refused(401, error, hint: hint).with(.wwwAuthenticate, "\(scheme) realm=\"smartplug\"")
    }

    private var seconds: Int64 { WallTime.now.nanosecondsSince1970 / 1_000_000_000 }
}
