import Automation
import LinuxSystem
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Sends one request over a new connection and reads its answer.
struct WebExchange: Sendable {
    private typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    /// The maximum number of bytes of an error response that are kept. The first line is reported.
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
        let result = await withTaskGroup(of: Result<Void, WebFault>?.self) { group in
            group.addTask { await attempt(within: limit) }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let result else { throw WebFault("no answer in time", isRetryable: true) }
        try result.get()
    }

    private func attempt(within limit: Duration) async -> Result<Void, WebFault> {
        do {
            let connection = try await connect(within: limit)
            return .success(
                try await connection.executeThenClose { inbound, outbound in
                    try await outbound.write(contentsOf: request.parts)
                    try await read(inbound)
                })
        } catch let fault as WebFault {
            return .failure(fault)
        } catch let error as NIOSSLError {
            // The next attempt would fail for the same reason, so these faults are not retryable.
            let words = "\(error)"
            let isUntrusted = words.contains("CERTIFICATE_VERIFY_FAILED")
            let reason = isUntrusted ? "the server's certificate is not trusted" : words
            return .failure(WebFault("no secure connection: \(reason)".bounded))
        } catch let error as NIOSSLExtraError {
            return .failure(WebFault("no secure connection: \(error)".bounded))
        } catch let error as NIOConnectionError {
            // The host name may be one that TLS cannot use as a server name.
            let isInsecure = error.connectionErrors.first?.error is NIOSSLExtraError
            let reason = error.connectionErrors.first.map { Self.reason(for: $0.error) } ?? "unknown host name"
            return .failure(WebFault("cannot connect: \(reason)".bounded, isRetryable: !isInsecure))
        } catch {
            return .failure(
                WebFault("the connection failed: \(Self.reason(for: error))".bounded, isRetryable: true))
        }
    }

    /// The cause of a failed connection, without the name of the system call that failed.
    private static func reason(for error: any Error) -> String {
        switch error {
        case let error as IOError: "\(SystemError(error.errnoCode))"
        case ChannelError.connectTimeout: "no answer"
        case is ChannelError: "the connection was closed"
        default: "\(error)"
        }
    }

    /// Connects. A cancelled task stops waiting for DNS and the connection; a connection that is established later is
    /// closed.
    private func connect(within limit: Duration) async throws -> Connection {
        let opening = try open(within: limit)
        let loop = opening.eventLoop
        let connection = loop.makePromise(of: Connection.self)
        let isDecided = NIOLoopBoundBox.makeBoxSendingValue(false, eventLoop: loop)
        return try await withTaskCancellationHandler {
            opening.whenComplete { result in
                guard !isDecided.value else {
                    if case .success(let channel) = result { channel.close(promise: nil) }
                    return
                }
                isDecided.value = true
                // Wrap the channel immediately, so that no data arrives before it has a reader.
                connection.completeWith(
                    result.flatMap { channel in
                        Result { try Connection(wrappingChannelSynchronously: channel) }
                    })
            }
            return try await connection.futureResult.get()
        } onCancel: {
            loop.execute {
                guard !isDecided.value else { return }
                isDecided.value = true
                connection.fail(CancellationError())
            }
        }
    }

    private func open(within limit: Duration) throws -> EventLoopFuture<any Channel> {
        let security = try securityContext()
        return ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            // Closes the socket if the TCP connection is not established in time. A cancelled task stops waiting, but
            // does not close the socket.
            .connectTimeout(TimeAmount(limit))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let security {
                        // RFC 6066 section 3: an IP address is not a server name.
                        let isAddress = (try? SocketAddress(ipAddress: request.host, port: 0)) != nil
                        try pipeline.addHandler(
                            NIOSSLClientHandler(context: security, serverHostname: isAddress ? nil : request.host))
                    }
                    try pipeline.addHTTPClientHandlers()
                }
            }
            .connect(host: request.host, port: request.port)
    }

    private func securityContext() throws -> NIOSSLContext? {
        guard request.isSecure else { return nil }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = trustRoots
        configuration.minimumTLSVersion = .tlsv12
        return try NIOSSLContext(configuration: configuration)
    }

    private func read(_ parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>) async throws {
        var refusal: HTTPResponseHead?
        var said: [UInt8] = []
        for try await part in parts {
            switch part {
            case .head(let head):
                // The body of a successful answer is not read.
                if (200..<300).contains(head.status.code) { return }
                refusal = head
            case .body(let piece):
                said += piece.readableBytesView.prefix(Self.answerLimit - said.count)
                if let refusal, said.count >= Self.answerLimit { throw WebFault(refusal, said, to: request) }
            case .end:
                if let refusal { throw WebFault(refusal, said, to: request) }
            }
        }
        if let refusal { throw WebFault(refusal, said, to: request) }
        throw WebFault("the connection was closed before the answer arrived", isRetryable: true)
    }
}

extension WebFault {
    fileprivate init(_ head: HTTPResponseHead, _ said: [UInt8], to request: WebRequest) {
        let code = head.status.code
        if (300..<400).contains(code) {
            // The rest of the location may contain a secret, so only its origin is reported.
            let place = head.headers.first(name: "Location").flatMap(WebHook.origin).map { " (\($0))" } ?? ""
            self.init("status \(code): redirects are not followed\(place)".bounded, status: code)
            return
        }
        let first = String(decoding: said, as: UTF8.self).split(whereSeparator: \.isNewline).first ?? ""
        // Some servers repeat the request in their answer, and the request may contain a secret.
        let isSecret = request.secrets.contains { first.contains($0) }
        let words = first.isEmpty || isSecret ? "" : ": \(first)"
        let isRetryable = code >= 500 || head.status == .tooManyRequests || head.status == .requestTimeout
        self.init(
            "status \(code) \(head.status.reasonPhrase)\(words)".bounded, isRetryable: isRetryable,
            status: code)
    }
}

extension String {
    /// The text as one log line: at most 300 scalars, without control characters.
    fileprivate var bounded: String {
        let plain = unicodeScalars.prefix(300).map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(plain))
    }
}
