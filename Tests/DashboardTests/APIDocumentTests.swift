import Foundation
import NIOCore
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

    /// The door has these, and every path may have parameters for all its methods.
    private let others: Set = ["GET /api/v1/session", "POST /api/v1/session", "DELETE /api/v1/session"]

    @Test func theDocumentHasEveryRouteAndNoOther() throws {
        let bytes = Data(Dashboard.openAPI.readableBytesView)
        let document = try JSONDecoder().decode(Document.self, from: bytes)
        #expect(document.openapi.hasPrefix("3.1"))
        let described = document.paths.flatMap { path, methods in
            methods.keys.filter { $0 != "parameters" }.map { "\($0.uppercased()) \(path)" }
        }
        let routes = Dashboard.routes.map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(described).subtracting(others) == Set(routes))
        #expect(Set(routes).count == routes.count)
    }

    @Test func aBodyIsReadStrictly() {
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
