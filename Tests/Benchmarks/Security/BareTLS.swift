import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import PlugTransport

/// The reference for handshakes: NIO and TLS 1.3 with certificates on both sides, a handshake and one echo.
enum BareTLS {
    static let question = [UInt8](repeating: 1, count: 100)

    /// Prints the port and serves until standard input ends.
    static func serve() async throws {
        let context = try serverContext()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([serverHandler(context), EchoHandler()])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        print(server.localAddress?.port ?? 0)
        fflush(nil)
        for await _ in standardInput() {}
    }

    /// The client, which opens a new connection for each question.
    struct Client {
        private let context: NIOSSLContext
        private let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        private let port: Int

        init(port: Int) throws {
            context = try clientContext()
            self.port = port
        }

        /// Connects, sends the question, and returns after the answer.
        func ask() async throws {
            let answered = loop.makePromise(of: Void.self)
            let channel = try await ClientBootstrap(group: loop)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { [context] channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers([
                            clientHandler(context), AnswerHandler(answered),
                        ])
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
            channel.writeAndFlush(channel.allocator.buffer(bytes: question), promise: nil)
            try await answered.futureResult.get()
            channel.close(promise: nil)
        }
    }

    static func serverContext() throws -> NIOSSLContext {
        let (certificate, key) = try drawIdentity()
        return try context(
            .makeServerConfiguration(certificateChain: [.certificate(certificate)], privateKey: .privateKey(key)))
    }

    static func clientContext() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        let (certificate, key) = try drawIdentity()
        configuration.certificateChain = [.certificate(certificate)]
        configuration.privateKey = .privateKey(key)
        return try context(configuration)
    }

    static func serverHandler(_ context: NIOSSLContext) -> NIOSSLServerHandler {
        NIOSSLServerHandler(context: context, customVerificationCallback: acceptAnybody)
    }

    static func clientHandler(_ context: NIOSSLContext) throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: context, serverHostname: nil, customVerificationCallback: acceptAnybody)
    }

    private static func context(_ side: TLSConfiguration) throws -> NIOSSLContext {
        var configuration = side
        configuration.minimumTLSVersion = .tlsv13
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        return try NIOSSLContext(configuration: configuration)
    }

    /// Creates a P-256 key and a self-signed certificate with openssl.
    private static func drawIdentity() throws -> (NIOSSLCertificate, NIOSSLPrivateKey) {
        let openssl = try ChildProcess(
            "/usr/bin/openssl",
            ["req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-subj", "/CN=bench"]
                + ["-keyout", "-", "-out", "-"])
        defer { openssl.finish() }
        var pem = ""
        while let line = openssl.line() { pem += line + "\n" }
        let bytes = Array(pem.utf8)
        return (try NIOSSLCertificate(bytes: bytes, format: .pem), try NIOSSLPrivateKey(bytes: bytes, format: .pem))
    }

    @Sendable private static func acceptAnybody(
        _ chain: [NIOSSLCertificate], _ result: EventLoopPromise<NIOSSLVerificationResult>
    ) {
        result.succeed(.certificateVerified)
    }
}

private final class EchoHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.writeAndFlush(data, promise: nil) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let answered: EventLoopPromise<Void>
    private var missing = BareTLS.question.count

    init(_ answered: EventLoopPromise<Void>) { self.answered = answered }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        missing -= unwrapInboundIn(data).readableBytes
        if missing <= 0 { answered.succeed() }
    }
    func channelInactive(context: ChannelHandlerContext) { answered.fail(ChannelError.eof) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        answered.fail(error)
        context.close(promise: nil)
    }
}
