import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Presentation

/// What `GET /api/v1/session` answers.
struct SessionRecord: Codable, Hashable {
    /// Whether whoever asks has to log in at all.
    var passwordNeeded: Bool
    var loggedIn: Bool
}

/// `/api/v1/session`: logging in and out.
struct SessionRoutes {
    static let path = "/api/v1/session"

    let login: Login
    /// The door in the network is open to this machine alone.
    let isLoopback: Bool

    func add(to router: Router<DashboardContext>) {
        let (login, isLoopback) = (login, isLoopback)
        let path = RouterPath(Self.path)
        router.get(path) { request, context -> Response in
            var record = SessionRecord(passwordNeeded: false, loggedIn: true)
            if !context.isLocal {
                (record.passwordNeeded, record.loggedIn) = await login.state(
                    of: request.headers, isLoopback: isLoopback)
            }
            return Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: jsonLine(record) + "\n")))
        }
        router.post(path) { request, context -> Response in
            let password = try Self.password(in: try await request.body.collect(upTo: 4096))
            guard !context.isLocal else { throw Refused(409, "over the local socket nobody logs in") }
            let cookies = try await login.begin(
                password, request.headers, from: context.address, isLoopback: isLoopback)
            return Response(
                status: .noContent,
                headers: [
                    .setCookie: SessionCookie.header(cookies.session, isSecure: context.isSecure),
                    .setCookie: DeviceCookie.header(cookies.device, isSecure: context.isSecure),
                ])
        }
        router.delete(path) { _, context -> Response in
            Response(status: .noContent, headers: [.setCookie: SessionCookie.header(nil, isSecure: context.isSecure)])
        }
    }

    static func password(in body: ByteBuffer) throws(Refused) -> String {
        guard let object = try? JSONDecoder().decode([String: String].self, from: Data(body.readableBytesView)),
            let password = object["password"], object.count == 1
        else { throw Refused(400, "the body is not {\"password\": \"...\"}") }
        return password
    }
}
