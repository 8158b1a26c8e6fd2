import Foundation
import HTTPTypes
import Hummingbird
import LinuxClocks
import NIOCore
import Presentation

/// What `GET /api/v1/session` answers.
struct SessionRecord: Codable, Hashable {
    /// Whether whoever asks has to log in at all.
    var passwordNeeded: Bool
    var loggedIn: Bool
    /// What they may do: owner, user, viewer or guest; left out while they are not logged in.
    var role: String?
    /// What their password is called.
    var name: String?
    /// When it ends; ISO 8601, UTC.
    var until: String?
    /// They may see other houses, too; left out where not.
    var fleet: Bool?
}

/// `/api/v1/session`: logging in and out. `/api/v1/sessions`: who is logged in.
struct SessionRoutes {
    static let path = "/api/v1/session"

    let login: Login
    /// The door in the network is open to this machine alone.
    let isLoopback: Bool
    /// Called with the entrances of sessions that were ended, so that nobody goes on to follow the house by one of them.
    let ended: @Sendable (Set<String>) async -> Void
    /// Whether a person with the password of this name may see other houses.
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
                throw Fault(.notFound, "there is no session of that id", hint: "/api/v1/sessions lists those that are")
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
        var (isNeeded, pass): (Bool, Pass?) = (false, .owner)
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
        guard !context.isLocal else { throw Refused(409, "over the local socket nobody logs in") }
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

/// - Parameter seconds: since 1970; beyond the year 2242 that year is told.
private func time(_ seconds: Int64) -> String {
    (WallTime(nanosecondsSince1970: 0) + .seconds(min(max(0, seconds), 1 << 33))).iso8601()
}
