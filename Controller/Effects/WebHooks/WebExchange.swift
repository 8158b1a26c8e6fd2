import Automation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One request and its answer, over a connection of its own.
struct WebExchange: Sendable {
    private typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    /// Bytes of what a server says when it refuses: a line of it is told.
    private static let answerLimit = 4096

    private let request: WebRequest
    private let trustRoots: NIOSSLTrustRoots

    init(_ request: WebRequest, trustRoots: NIOSSLTrustRoots) {
        self.request = request
        self.trustRoots = trustRoots
    }

    /// Returns when the server has said that it did it. No redirection is followed: whoever wrote the rule named the server.
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
        guard let result else { throw WebFault("no answer came in time", isWorthAnotherTry: true) }
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
            // Whoever has the wrong certificate has it in a moment as well.
            return .failure(WebFault("no secure connection: \(error)".bounded))
        } catch let error as NIOSSLExtraError {
            return .failure(WebFault("no secure connection: \(error)".bounded))
        } catch let error as NIOConnectionError {
            // Its name may be none that a certificate could have.
            let isInsecure = error.connectionErrors.first?.error is NIOSSLExtraError
            let reason = error.connectionErrors.first.map { "\($0.error)" } ?? "its name is not known"
            return .failure(WebFault("it is not reached: \(reason)".bounded, isWorthAnotherTry: !isInsecure))
        } catch {
            return .failure(WebFault("the connection failed: \(error)".bounded, isWorthAnotherTry: true))
        }
    }

    /// Whoever gives up waits for no name and no server any longer; what is connected later is closed.
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
                // At once, so that nothing arrives before somebody listens.
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
            // Nothing else ends a connection that nobody answers.
            .connectTimeout(TimeAmount(limit))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let security {
                        // RFC 6066 section 3: an address is no server name.
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
                // The rest of the answer is of no interest.
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
        throw WebFault("the connection ended before the answer came", isWorthAnotherTry: true)
    }
}

extension WebFault {
    fileprivate init(_ head: HTTPResponseHead, _ said: [UInt8], to request: WebRequest) {
        let code = head.status.code
        if (300..<400).contains(code) {
            // The rest of it may let somebody in.
            let place = head.headers.first(name: "Location").flatMap(WebHook.origin).map { " (\($0))" } ?? ""
            self.init("status \(code): it points elsewhere\(place), which is not followed".bounded, status: code)
            return
        }
        let first = String(decoding: said, as: UTF8.self).split(whereSeparator: \.isNewline).first ?? ""
        // Some servers repeat what was asked for, and that may be what lets somebody in.
        let isSecret = request.secrets.contains { first.contains($0) }
        let words = first.isEmpty || isSecret ? "" : ": \(first)"
        let isWorthAnotherTry = code >= 500 || head.status == .tooManyRequests || head.status == .requestTimeout
        self.init(
            "status \(code) \(head.status.reasonPhrase)\(words)".bounded, isWorthAnotherTry: isWorthAnotherTry,
            status: code)
    }
}

extension String {
    /// As a line of a log holds it, without what would move a cursor.
    fileprivate var bounded: String {
        let plain = unicodeScalars.prefix(300).map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(plain))
    }
}
