import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import RuleModel

/// The HTTP request of a web hook (RFC 9112).
struct WebRequest: Sendable {
    let host: String
    let port: Int
    /// The request without its TLS settings.
    let content: HTTPClientRequest
    /// Text that must not appear in any message about the request.
    let secrets: [String]

    /// - Parameters:
    ///   - fields: header fields in addition to the usual ones; a field of the same name replaces the usual one.
    ///   - secrets: text that the server may repeat and that must not be reported.
    /// - Throws: `WebFault` if the URL or the method is not valid.
    init(
        _ hook: WebHook, _ event: EffectEvent, fields: [(name: String, value: String)] = [], secrets: [String] = []
    ) throws(WebFault) {
        let (url, server) = try Self.parts(of: hook)
        guard url.user == nil, url.password == nil else {
            throw WebFault("the address of a web hook must not contain a user or password")
        }
        let method: HTTPMethod
        switch hook.method.uppercased() {
        case "POST": method = .POST
        case "PUT": method = .PUT
        case "GET": method = .GET
        case let other: throw WebFault("\(other) is not supported; the methods are POST, PUT and GET")
        }
        var usual = [(name: "Accept", value: "*/*"), (name: "Idempotency-Key", value: event.id)]
        var body: [UInt8]?
        if method != .GET {
            body = hook.body.map { Array($0.utf8) } ?? event.withoutTime.json
            usual.append((name: "Content-Type", value: hook.body.map(Self.type) ?? "application/json"))
        }
        self.init(method, url, server, usual + fields, body, secrets: secrets + Self.secrets(of: url))
    }

    /// Creates a POST request with a body. The path of the address is a secret.
    ///
    /// - Parameter fields: additional header fields, whose values are secrets.
    init(posting bytes: [UInt8], to address: String, fields: [(name: String, value: String)] = []) throws(WebFault) {
        let (url, server) = try Self.parts(of: WebHook(url: address))
        guard url.user == nil, url.password == nil else {
            throw WebFault("an address must not contain a user or password")
        }
        self.init(.POST, url, server, fields, bytes, secrets: fields.map(\.value) + Self.secrets(of: url))
    }

    private init(
        _ method: HTTPMethod, _ url: URLComponents, _ server: WebServer, _ fields: [(name: String, value: String)],
        _ body: [UInt8]?, secrets: [String]
    ) {
        (host, port) = (server.host, server.port)
        let authority = (host.contains(":") ? "[\(host)]" : host) + (url.port.map { ":\($0)" } ?? "")
        var content = HTTPClientRequest(url: url.string ?? "")
        content.method = method
        content.headers = ["Host": authority, "Connection": "close", "User-Agent": "smartplug"]
        for field in fields { content.headers.replaceOrAdd(name: field.name, value: field.value) }
        content.body = body.map { .bytes(ByteBuffer(bytes: $0)) }
        self.content = content
        self.secrets = secrets
    }

    /// Returns the server of a web hook; nil if its URL is not valid.
    static func server(of hook: WebHook) -> WebServer? { try? parts(of: hook).server }

    private static func parts(of hook: WebHook) throws(WebFault) -> (url: URLComponents, server: WebServer) {
        guard var url = URLComponents(string: hook.url), let scheme = url.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let written = url.host, !written.isEmpty
        else { throw WebFault("\(hook.words): not a web address (http:// or https://)") }
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        guard (1...65_535).contains(port) else { throw WebFault("\(port) is not a valid port") }
        url.fragment = nil
        let host = unbracketed(written)
        // The HTTP client parses the URL again. It must connect to the server that the policy checks.
        guard let parsed = url.string.flatMap({ URL(string: $0) }), parsed.host.map(unbracketed) == host,
            parsed.port == url.port
        else { throw WebFault("\(hook.words): not a web address (http:// or https://)") }
        return (url, WebServer(host: host, port: port))
    }

    private static func secrets(of url: URLComponents) -> [String] {
        let path = url.percentEncodedPath
        return path.utf8.count > 1 ? [path] : []
    }

    private static func unbracketed(_ host: String) -> String {
        host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    }

    /// Returns the content type of a rule's own body: JSON or plain text. Only the first and the last character decide,
    /// so that values that are inserted into the body do not change its type.
    private static func type(of body: String) -> String {
        let body = body.utf8.drop { " \t\r\n".utf8.contains($0) }
        let last = body.last { !" \t\r\n".utf8.contains($0) }
        let isJSON =
            switch (body.first, last) {
            case (UInt8(ascii: "{"), UInt8(ascii: "}")), (UInt8(ascii: "["), UInt8(ascii: "]")): true
            case _: false
            }
        return isJSON ? "application/json" : "text/plain; charset=utf-8"
    }
}
