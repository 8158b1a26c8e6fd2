import AsyncHTTPClient
import HTTPRequests
import NIOSSL
import RuleModel

/// Sends one request and reads its answer.
struct WebExchange: Sendable {
    /// The maximum number of bytes of an error response that are read. The first line is reported.
    private static let answerLimit = 4096

    private let request: WebRequest
    private let trustRoots: NIOSSLTrustRoots

    init(_ request: WebRequest, trustRoots: NIOSSLTrustRoots) {
        self.request = request
        self.trustRoots = trustRoots
    }

    /// Returns when the server has answered with a 2xx status. Redirects are not followed, because the rule's author
    /// chose the server.
    func run(within limit: Duration) async throws(WebFault) {
        var security = TLSConfiguration.makeClientConfiguration()
        security.trustRoots = trustRoots
        security.minimumTLSVersion = .tlsv12
        var content = request.content
        content.tlsConfiguration = security
        do {
            try await SingleRequest(content, connectWithin: limit, within: limit).run { try await check($0) }
        } catch let fault as WebFault {
            throw fault
        } catch let fault as RequestFault {
            throw WebFault(fault)
        } catch {
            throw WebFault("the request was cancelled", isRetryable: true)
        }
    }

    private func check(_ response: HTTPClientResponse) async throws {
        // The body of a successful answer is not read.
        guard !(200..<300).contains(response.status.code) else { return }
        var said: [UInt8] = []
        for try await piece in response.body {
            said += piece.readableBytesView.prefix(Self.answerLimit - said.count)
            guard said.count < Self.answerLimit else { break }
        }
        throw WebFault(response, said, to: request)
    }
}

extension WebFault {
    fileprivate init(_ fault: RequestFault) { self.init("\(fault)", isRetryable: fault.isRetryable) }

    fileprivate init(_ response: HTTPClientResponse, _ said: [UInt8], to request: WebRequest) {
        let code = response.status.code
        if (300..<400).contains(code) {
            // The rest of the location may contain a secret, so only its origin is reported.
            let place = response.headers.first(name: "Location").flatMap(WebHook.origin).map { " (\($0))" } ?? ""
            self.init("status \(code): redirects are not followed\(place)".bounded, status: code)
            return
        }
        let first = String(decoding: said, as: UTF8.self).split(whereSeparator: \.isNewline).first ?? ""
        // Some servers repeat the request in their answer, and the request may contain a secret.
        let isSecret = request.secrets.contains { first.contains($0) }
        let words = first.isEmpty || isSecret ? "" : ": \(first)"
        let isRetryable = code >= 500 || response.status == .tooManyRequests || response.status == .requestTimeout
        self.init(
            "status \(code) \(response.status.reasonPhrase)\(words)".bounded, isRetryable: isRetryable,
            status: code, retryAfter: Self.pause(response.headers.first(name: "Retry-After")))
    }

    /// Parses a number of seconds. A date gives nil, and so does a number of more than six digits.
    private static func pause(_ text: String?) -> Duration? {
        guard let text, (1...6).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(text).map { .seconds($0) }
    }
}

extension String {
    /// The text as one log line: at most 300 scalars, without control characters.
    fileprivate var bounded: String {
        let plain = unicodeScalars.prefix(300).map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(plain))
    }
}
