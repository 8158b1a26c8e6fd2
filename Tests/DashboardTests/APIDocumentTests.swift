import Foundation
import NIOCore
import PlugModel
import Testing

@testable import Dashboard

@Suite struct APIDocumentTests {
    private struct Document: Decodable {
        var openapi: String
        var paths: [String: [String: Anything]]
    }

    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }

    /// The routes of sessions. The login handles them, so `Dashboard.routes` does not list them.
    private let others: Set = [
        "GET /api/v1/session", "POST /api/v1/session", "DELETE /api/v1/session", "GET /api/v1/sessions",
        "DELETE /api/v1/sessions", "DELETE /api/v1/sessions/{session}",
    ]

    private func described() throws -> [String] {
        let bytes = Data(Dashboard.openAPI.readableBytesView)
        let document = try JSONDecoder().decode(Document.self, from: bytes)
        #expect(document.openapi.hasPrefix("3.1"))
        return document.paths.flatMap { path, methods in
            methods.keys.filter { $0 != "parameters" }.map { "\($0.uppercased()) \(path)" }
        }
    }

    /// Attack class: a new route without assigned roles.
    @Test("Every route of the OpenAPI document has a row in the access table")
    func everyRouteOfTheDocumentHasARowInTheTableOfRoles() throws {
        let rows = AccessTable.rows.map { "\($0.method.rawValue) \($0.path)" }
        #expect(try Set(described()) == Set(rows))
        #expect(Set(rows).count == rows.count)
        #expect(AccessTable.openPaths == ["/health", "/api/v1/session"])
        for row in AccessTable.rows {
            // Owners may use every route that needs a login.
            #expect(row.roles.map { $0.contains(.owner) } ?? true, "\(row.path)")
            let asks = row.method == .get
            let isForViewers = row.roles.map { $0.contains(.viewer) } ?? true
            // A subscription concerns only the browser of the user.
            let isOwn = row.path.hasPrefix("/api/v1/push/subscriptions")
            #expect(
                asks || isOwn || !isForViewers || row.roles == nil,
                "a viewer may use a route that changes something: \(row.path)")
            let allowed = { (role: Role) in
                AccessTable.refusal(of: row.method, row.path, for: Authorization(role: role)) == nil
            }
            #expect(allowed(.guest) == allowed(.user), "a guest must have the rights of a user: \(row.path)")
        }
        #expect(AccessTable.refusal(of: .put, "/api/v1/house", for: .owner)?.status == 403)
        #expect(AccessTable.refusal(of: .get, "/api/v1/house", for: nil)?.status == 401)
    }

    @Test("The OpenAPI document has exactly the routes of the dashboard")
    func theDocumentHasEveryRouteAndNoOther() throws {
        let described = try described()
        let routes = Dashboard.routes.map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(described).subtracting(others) == Set(routes))
        #expect(Set(routes).count == routes.count)
    }

    @Test("A request body with missing, unknown or mistyped members is rejected")
    func aBodyIsReadStrictly() {
        struct Body: JSONBody {
            static let keys: Set = ["on", "over"]
            var on: Bool
            var over: Double?
        }
        func status(_ text: String) -> Int? {
            let result = Result { () throws(Fault) in try Body.read(from: Data(text.utf8)) }
            return if case .failure(let fault) = result { fault.status.code } else { nil }
        }
        #expect(status("{\"on\":true}") == nil && status(" {\"over\":1.5,\"on\":false}\n") == nil)
        for text in [
            "", "{", "[]", "true", "{}", "{\"on\":1}", "{\"on\":\"true\"}", "{\"on\":null}",
            "{\"on\":true,\"over\":null}",
            "{\"on\":true,\"more\":1}", "{\"on\":true}x", "{\"on\":true,\"over\":\"1\"}", "\u{0}",
            String(repeating: "[", count: 4000),
        ] { #expect(status(text) == 400, "\(text.prefix(40))") }
    }
}
