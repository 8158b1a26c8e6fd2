import Foundation
import HTTPTypes
import Hummingbird
import LinuxSystem
import NIOCore
import Presentation

/// The answer of `GET /api/v1/session`.
struct SessionRecord: Codable, Hashable {
    /// True if the dashboard requires a login.
    var passwordNeeded: Bool
    var loggedIn: Bool
    /// The user's role: owner, user, viewer or guest; missing if the user is not logged in.
    var role: String?
    /// The name of the user's password; missing without a password.
    var name: String?
    /// The time at which the password expires, in ISO 8601, UTC; missing if it does not expire.
    var until: String?
    /// True if the user may see other houses; missing otherwise.
    var fleet: Bool?
}

/// The routes `/api/v1/session` for login and logout, and `/api/v1/sessions` for the list of sessions.
struct SessionRoutes {
    static let path = "/api/v1/session"

    let login: Login
    /// True if the network socket serves only this machine.
    let isLoopback: Bool
    /// Called with the entrances (``Authorization/entrances``) of ended sessions, so that their streams are closed.
    let ended: @Sendable (Set<String>) async -> Void
    /// Returns true if the user with the password of this name may see other houses.
    let hasFleet: @Sendable (_ name: String?) -> Bool

    func add(to router: Router<DashboardContext>) {
        add(.get, Self.path, to: router) { request, context in try await state(request, context) }
        add(.post, Self.path, to: router) { request, context in try await logIn(request, context) }
        add(.delete, Self.path, to: router) { request, context in
            await ended(try await login.end(request.headers))
            let taken = SessionCookie.header(nil, isSecure: context.isSecure)
            return Response(status: .noContent, headers: [.setCookie: taken])
        }
        add(.get, Self.path + "s", to: router) { request, context in
            _ = try QueryParameters(request)
            return Response(json: jsonLine(await login.current.map { Self.record($0, context) }))
        }
        add(.delete, Self.path + "s", to: router) { request, context in
            _ = try QueryParameters(request)
            let all = try await login.end(nil)
            await ended(Set(all.map { Login.entrance(ofSession: $0.session.id) }))
            return Response(json: jsonLine(all.map { Self.record($0, context) }))
        }
        add(.delete, Self.path + "s/{session}", to: router) { request, context in
            _ = try QueryParameters(request)
            guard let one = try await login.end(context.parameters.get("session") ?? "").first else {
                throw Fault(.notFound, "no session has this id", hint: "/api/v1/sessions lists the sessions")
            }
            await ended([Login.entrance(ofSession: one.session.id)])
            return Response(json: jsonLine(Self.record(one, context)))
        }
    }

    private func add(
        _ method: HTTPRequest.Method, _ path: String, to router: Router<DashboardContext>,
        _ handle: @escaping @Sendable (Request, DashboardContext) async throws -> Response
    ) {
        router.on(RouterPath(path), method: method) { request, context in
            if let refused = AccessTable.refusal(of: method, path, for: context.pass) { throw refused }
            return try await handle(request, context)
        }
    }

    private func state(_ request: Request, _ context: DashboardContext) async throws -> Response {
        var (isNeeded, pass): (Bool, Authorization?) = (false, .owner)
        if !context.isLocal {
            (isNeeded, pass) = await login.state(of: request.headers, from: context.address, isLoopback: isLoopback)
        }
        let record = SessionRecord(
            passwordNeeded: isNeeded, loggedIn: pass != nil, role: pass?.role.rawValue, name: pass?.name,
            until: pass?.until.map(time), fleet: pass.flatMap { hasFleet($0.name) ? true : nil })
        return Response(json: jsonLine(record) + "\n")
    }

    private func logIn(_ request: Request, _ context: DashboardContext) async throws -> Response {
        let password = try Self.password(in: try await request.body.collect(upTo: 4096))
        guard !context.isLocal else { throw Refused(409, "the local socket needs no login") }
        let cookies = try await login.begin(password, request.headers, from: context.address, isLoopback: isLoopback)
        return Response(
            status: .noContent,
            headers: [
                .setCookie: SessionCookie.header(cookies.session, isSecure: context.isSecure),
                .setCookie: DeviceCookie.header(cookies.device, isSecure: context.isSecure),
            ])
    }

    static func password(in body: ByteBuffer) throws(Refused) -> String {
        guard let object = try? JSONDecoder().decode([String: String].self, from: Data(body.readableBytesView)),
            let password = object["password"], object.count == 1
        else { throw Refused(400, "the body is not {\"password\": \"...\"}") }
        return password
    }

    private static func record(
        _ one: (session: Session, password: DashboardPassword), _ context: DashboardContext
    ) -> LoginRecord {
        let end = one.session.began + Sessions.lifetime
        return LoginRecord(
            id: one.session.id, name: one.password.name, role: one.password.role, device: one.session.device,
            address: one.session.address, since: time(one.session.began), used: time(one.session.used),
            until: time(min(end, one.password.until ?? end)), isAsker: one.session.id == context.pass?.session)
    }
}

/// Formats a time in ISO 8601.
///
/// - Parameter seconds: since 1970, limited to 2^33 (in the year 2242).
private func time(_ seconds: Int64) -> String {
    (WallTime(nanosecondsSince1970: 0) + .seconds(min(max(0, seconds), 1 << 33))).iso8601()
}
