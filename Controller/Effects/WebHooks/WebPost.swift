import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Bytes that a program of ours sends to a web server, over a connection of its own, as a web hook goes.
public struct WebPost: Sendable {
    /// Why the server did not take them.
    public struct Fault: Error, Hashable, Sendable {
        /// One line, without what lets somebody in.
        public let words: String
        /// Of the server's answer; nil where there was none.
        public let status: UInt?
        /// A server that was not reached, or that failed, may be well in a moment.
        public let isWorthAnotherTry: Bool

        init(_ fault: WebFault) {
            (words, status, isWorthAnotherTry) = (fault.words, fault.status, fault.isWorthAnotherTry)
        }
    }

    private let url: String
    private let trustRoots: NIOSSLTrustRoots

    /// - Parameters:
    ///   - url: `http://` or `https://`, without a user and a password.
    ///   - authority: a file of certificates that vouch for the server (PEM); nil: those that the machine trusts.
    public init(to url: String, authority: String?) throws(Fault) {
        self.url = url
        trustRoots = authority.map { .file($0) } ?? .default
        do throws(WebFault) { _ = try WebRequest(posting: [], to: url) } catch { throw Fault(error) }
    }

    /// Returns when the server has said that it has them.
    ///
    /// - Parameters:
    ///   - fields: of the request's head; none of them is told, nor what the server says of them.
    ///   - limit: until the answer is there.
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

extension WebPost {
    /// The value of an `Authorization` field (RFC 7617).
    public static func basicAuthorization(user: String, password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}
