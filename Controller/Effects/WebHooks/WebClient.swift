import Foundation
import NIOSSL

/// Sends bytes to a web server by POST, over a new connection and without retries. TLS and error reports are those of
/// web hooks.
public struct WebClient: Sendable {
    /// The reason why the server did not accept the bytes.
    public struct Fault: Error, Hashable, Sendable {
        /// A description in one line, without secrets.
        public let words: String
        /// The status code of the server's answer; nil without an answer.
        public let status: UInt?
        /// True if a later attempt may succeed: the server was not reached, or it failed.
        public let isRetryable: Bool
        /// The time for which the server asks to send no further request; nil if it does not.
        public let retryAfter: Duration?

        init(_ fault: WebFault) {
            (words, status, isRetryable) = (fault.words, fault.status, fault.isRetryable)
            retryAfter = fault.retryAfter
        }
    }

    private let url: String
    private let trustRoots: NIOSSLTrustRoots

    /// - Parameters:
    ///   - url: `http://` or `https://`, without a user and a password. Its path is a secret: it appears in no error.
    ///   - authority: a file with certificates (PEM) of the authorities that are trusted; nil for those of the system.
    /// - Throws: `Fault` if the URL is not valid.
    public init(to url: String, authority: String?) throws(Fault) {
        self.url = url
        trustRoots = authority.map { .file($0) } ?? .default
        do throws(WebFault) { _ = try WebRequest(posting: [], to: url) } catch { throw Fault(error) }
    }

    /// Sends the bytes. Returns when the server has answered with a 2xx status.
    ///
    /// - Parameters:
    ///   - fields: additional header fields. Their values are secrets: they appear in no error, even if the server
    ///     repeats them.
    ///   - limit: the time limit until the answer has arrived.
    public func send(
        _ body: [UInt8], fields: [(name: String, value: String)], within limit: Duration
    ) async throws(Fault) {
        do throws(WebFault) {
            let request = try WebRequest(posting: body, to: url, fields: fields)
            try await WebExchange(request, trustRoots: trustRoots).run(within: limit)
        } catch {
            throw Fault(error)
        }
    }
}

extension WebClient {
    /// Returns the value of an `Authorization` field for Basic authentication (RFC 7617).
    public static func basicAuthorization(user: String, password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}
