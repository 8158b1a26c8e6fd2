import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import Presentation

/// Checks each request before it reaches its route, and answers rejected requests.
struct RequestFilter: Sendable {
    /// The socket of a request.
    enum Door: Hashable, Sendable {
        /// The local socket, whose file only the daemon's own user can open.
        case local
        /// The TCP socket.
        ///
        /// - Parameter isLoopback: true if only this machine can connect, and no proxy forwards requests of others.
        case network(isLoopback: Bool, isSecure: Bool)
    }

    let door: Door
    let hosts: HostCheck
    /// The addresses under which proxies offer the page.
    var external: Set<ExternalAddress> = []
    let methods: KnownMethods
    let login: Login
    /// Paths that need no login.
    let isPublic: Set<String>
    let limits: DoorLimits
    let guests: ConnectionTracker
    let seats: RequestSeats
    let routes: RouterResponder<DashboardContext>

    func respond(to request: Request, context: DashboardContext) async throws -> Response {
        let response = try await answer(to: request, context: context)
        // The client would parse a body after a HEAD request as the start of the next answer.
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(to request: Request, context: DashboardContext) async throws -> Response {
        var context = context
        if case .network(_, let isSecure) = door {
            context.isSecure =
                isSecure || originCheck(isSecure).isSecureOutside(origins: request.headers[values: .origin])
        } else {
            context.isLocal = true
            context.pass = .owner
        }
        do {
            let request = try await admitted(request, &context)
            // Paths without login are cheap and open to all, so they need no seat.
            guard let pass = context.pass else { return try await routes.respond(to: request, context: context) }
            return try await seats.answer(pass.holder) { [context] in
                try await routes.respond(to: request, context: context)
            }
        } catch let refused as Refused {
            // If the request may have a body, the connection is closed, because the rest of the body is not read.
            let closes = request.method != .get && request.method != .head
            return refused.response(closing: closes)
        } catch let error as HTTPParserError {
            throw error
        } catch let error as ConnectionLost {
            throw error
        } catch is CancellationError {
            throw ConnectionLost()
        } catch {
            context.logger.warning("a request failed", metadata: ["error": "\(error)"])
            return Refused(500, "internal error; see the daemon's log").response(closing: true)
        }
    }

    /// Returns the request with its body if it is admitted. The role is checked later, at the route (``AccessTable``).
    private func admitted(_ request: Request, _ context: inout DashboardContext) async throws -> Request {
        let changes = request.method != .get && request.method != .head
        if case .network(_, let isSecure) = door {
            if let refused = checkOrigin(of: request, isSecure, changes) { throw refused }
        }
        guard request.head.path.map({ $0.utf8.count <= limits.path }) ?? false else {
            throw Refused(414, "the path and its query have more than \(limits.path) bytes")
        }
        guard let known = methods.methods(of: request.uri.path) else {
            throw Refused(404, "this path does not exist", hint: "GET /api/v1/openapi.json lists the paths")
        }
        guard known.contains(request.method.rawValue) else {
            throw Refused(405, "this path supports only \(known.joined(separator: ", "))")
                .with(.allow, known.joined(separator: ", "))
        }
        if case .network(let isLoopback, _) = door, !isPublic.contains(request.uri.path) {
            let pass = try await login.pass(of: request.headers, from: context.address, isLoopback: isLoopback)
            guard guests.seat(context.channel, pass.holder) else {
                throw Refused(
                    503, "too many connections are open with this password, or with all non-owner passwords together",
                    hint: "close some pages"
                )
                .with(.connection, "close")
            }
            context.pass = pass
        }
        return changes ? try await withBody(request, context) : request
    }

    private func checkOrigin(of request: Request, _ isSecure: Bool, _ changes: Bool) -> Refused? {
        // The first Host header became the request's authority, so a remaining one is a second header.
        guard request.headers[.host] == nil else { return Refused(400, "the request has two Host headers") }
        let host = request.head.authority
        if let refused = hosts.refusal(of: host) { return refused }
        // Any site may request public files, so that links to the dashboard work. Other requests from pages of other
        // sites are rejected before an answer is created. The browser would not let such a page read the answer anyway.
        guard changes || !isPublic.contains(request.uri.path) else { return nil }
        return originCheck(isSecure).refusal(
            origins: changes ? request.headers[values: .origin] : [], sites: request.headers[values: .secFetchSite],
            host: host ?? "")
    }

    private func originCheck(_ isSecure: Bool) -> OriginCheck { OriginCheck(isSecure: isSecure, external: external) }

    private func withBody(_ request: Request, _ context: DashboardContext) async throws -> Request {
        let limit = context.isOwner ? limits.bodyOfOwners : limits.body
        let tooLarge = Refused(413, "a body has at most \(limit) bytes")
        let length = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        guard length <= limit else { throw tooLarge }
        var request = request
        let body: ByteBuffer
        do {
            body = try await request.collectBody(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw tooLarge
        } catch let error as HTTPParserError {
            throw error
        } catch {
            throw ConnectionLost()
        }
        // A page of another site cannot send a DELETE without a CORS preflight request.
        let needsNoType = request.method == .delete && body.readableBytes == 0
        guard needsNoType || ContentTypeCheck.isJSON(request.headers[values: .contentType]) else {
            throw Refused(
                415, "the Content-Type of the body is not JSON", hint: "send it with Content-Type: application/json")
        }
        return request
    }

}

/// The connection is lost and no answer can be sent. Clients can cause this at will, so it is not logged.
struct ConnectionLost: Error {}

extension HTTPField.Name {
    static let secFetchSite = Self("Sec-Fetch-Site")!
    static let host = Self("Host")!
}

extension Refused {
    func response(closing: Bool = false) -> Response {
        var headers: HTTPFields = [.contentType: "application/json"]
        for (name, value) in fields { headers[name] = value }
        if closing { headers[.connection] = "close" }
        return Response(
            status: .init(code: status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: jsonLine(fault) + "\n")))
    }
}

/// Replaces the error answers of Hummingbird's routes with the dashboard's format.
struct FaultAnswers: RouterMiddleware {
    typealias Context = DashboardContext

    func handle(
        _ request: Request, context: DashboardContext,
        next: (Request, DashboardContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError {
            var refused = Refused(error.status.code, error.body ?? error.status.reasonPhrase)
            for field in error.headers { refused = refused.with(field.name, field.value) }
            throw refused
        }
    }
}
