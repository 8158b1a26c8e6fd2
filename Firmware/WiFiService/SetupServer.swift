import AddressConfiguration
import DNSWire
import LinuxNetwork
import LinuxSystem
import NIOCore
import NIOHTTP1
import NIOPosix
import WiFi

/// Serves the guests of the plug's own network: addresses (DHCP), names (DNS) and the setup page (HTTP).
struct SetupServer: Sendable {
    private let channels: [any Channel]

    /// Opens the three ports. Requires CAP_NET_BIND_SERVICE.
    ///
    /// - Parameters:
    ///   - interface: the interface with the plug's own network. It already has `address`.
    ///   - respond: called on the event loop; returns the response to a request.
    static func start(
        on interface: String, address: IPv4Address, eventLoop: any EventLoop,
        respond: @escaping @Sendable (SetupRequest) -> SetupResponse
    ) async throws -> SetupServer {
        var channels: [any Channel] = []
        do {
            channels.append(try await leases(interface, address, eventLoop))
            channels.append(try await names(address, eventLoop))
            channels.append(try await page(address, eventLoop, respond))
        } catch {
            for channel in channels { channel.close(promise: nil) }
            throw error
        }
        return SetupServer(channels: channels)
    }

    func stop() { for channel in channels { channel.close(promise: nil) } }

    private static func leases(
        _ interface: String, _ address: IPv4Address, _ eventLoop: any EventLoop
    ) async throws -> any Channel {
        let guests = try SocketAddress(ipAddress: "255.255.255.255", port: Int(DHCPPacket.clientPort))
        return try await DatagramBootstrap(group: eventLoop)
            .channelOption(.socketOption(.so_reuseaddr), value: 1)
            .channelOption(.socketOption(.so_broadcast), value: 1)
            .channelInitializer { channel in
                channel.bind(toInterface: interface).flatMapThrowing {
                    var leases = AccessPointLeases(address: address)
                    try channel.pipeline.syncOperations.addHandler(
                        DatagramAnswers { bytes, _ in
                            guard let message = try? DHCPMessage(decoding: bytes),
                                let answer = leases.answer(message, now: BootClock.now)
                            else { return nil }
                            return (answer.encoded, guests)
                        })
                }
            }
            .bind(host: "0.0.0.0", port: Int(DHCPPacket.serverPort)).get()
    }

    private static func names(_ address: IPv4Address, _ eventLoop: any EventLoop) async throws -> any Channel {
        try await DatagramBootstrap(group: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        DatagramAnswers { bytes, sender in
                            CaptiveNames.answer(bytes, address: address).map { ($0, sender) }
                        })
                }
            }
            .bind(host: "\(address)", port: 53).get()
    }

    private static func page(
        _ address: IPv4Address, _ eventLoop: any EventLoop,
        _ respond: @escaping @Sendable (SetupRequest) -> SetupResponse
    ) async throws -> any Channel {
        let open = NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: eventLoop)
        return try await ServerBootstrap(group: eventLoop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard open.value < connectionLimit else { throw ChannelError.alreadyClosed }
                    open.value += 1
                    channel.closeFuture.whenComplete { _ in open.value -= 1 }
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(IdleStateHandler(allTimeout: idleTime))
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(SetupRequestReader(respond))
                }
            }
            .bind(host: "\(address)", port: 80).get()
    }

    /// The limit of connections to the page. A guest may open many.
    private static let connectionLimit = 32
    /// The time after which a connection without data is closed.
    private static let idleTime = TimeAmount.seconds(20)
}

/// Answers datagrams one by one.
private final class DatagramAnswers: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let answer: ([UInt8], SocketAddress) -> ([UInt8], SocketAddress)?

    init(_ answer: @escaping ([UInt8], SocketAddress) -> ([UInt8], SocketAddress)?) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let datagram = unwrapInboundIn(data)
        guard let (bytes, receiver) = answer(Array(datagram.data.readableBytesView), datagram.remoteAddress),
            context.channel.isWritable
        else { return }
        context.writeAndFlush(
            wrapOutboundOut(AddressedEnvelope(remoteAddress: receiver, data: ByteBuffer(bytes: bytes))), promise: nil)
    }

    // A datagram that cannot be sent is lost.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}

/// A request to the setup page.
struct SetupRequest: Sendable {
    var method: HTTPMethod
    var path: Substring
    /// The values of the headers Host and Origin.
    var host: String?
    var origin: String?
    var body: [UInt8]
}

/// A response of the setup page.
struct SetupResponse: Sendable {
    var status: HTTPResponseStatus
    var html: String
    /// The address to load instead.
    var location: String?
}

/// Collects the parts of a request, and writes the response.
private final class SetupRequestReader: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let respond: @Sendable (SetupRequest) -> SetupResponse
    private var request: SetupRequest?

    init(_ respond: @escaping @Sendable (SetupRequest) -> SetupResponse) { self.respond = respond }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            request = SetupRequest(
                method: head.method, path: head.uri.prefix { $0 != "?" }, host: head.headers.first(name: "host"),
                origin: head.headers.first(name: "origin"), body: [])
        case .body(let bytes):
            // A longer form is cut at a length that its decoder refuses.
            let room = SetupForm.limit + 1 - (request?.body.count ?? 0)
            request?.body += bytes.readableBytesView.prefix(max(room, 0))
        case .end:
            guard let request else { return }
            self.request = nil
            write(respond(request), hasBody: request.method != .HEAD, context)
        }
    }

    private func write(_ response: SetupResponse, hasBody: Bool, _ context: ChannelHandlerContext) {
        let body = ByteBuffer(string: response.html)
        var headers: HTTPHeaders = [
            "Content-Type": "text/html; charset=utf-8", "Content-Length": "\(body.readableBytes)",
            "Cache-Control": "no-store", "Connection": "close", "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy":
                "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        ]
        if let location = response.location { headers.add(name: "Location", value: location) }
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: response.status, headers: headers))),
            promise: nil)
        if hasBody { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
