import LinuxNetwork
public import NIOCore
import NIOPosix
import NIOSSL
import PlugModel
import Synchronization

/// Accepts controllers on a TCP port. The kernel picks the port unless the caller does.
public struct Listener: Sendable {
    /// The port to announce in the SRV record.
    public let port: UInt16
    private let channel: any Channel
    private let shown: ShownIdentity

    /// Binds and starts to accept. A connection is reported to `owner`, whose executor must be `eventLoop`, after its
    /// TLS handshake. The owner calls ``Connection/markPaired()`` for paired controllers; other connections are closed
    /// after a time limit.
    ///
    /// - Parameters:
    ///   - identity: the identity of the plug.
    ///   - loopbackOnly: listens only on 127.0.0.1, for a plug that serves only its own machine.
    ///   - port: the TCP port; 0 lets the kernel pick one.
    ///   - limits: the limits for peers that are not known as paired controllers.
    ///   - memory: the stored addresses of paired controllers.
    ///   - isLocal: returns false for the address of a peer in another network.
    /// - Throws: ``ListenError`` with the address, the reason and a hint.
    public static func start<Owner: ConnectionOwner>(
        on eventLoop: any EventLoop, identity: TransportIdentity, loopbackOnly: Bool, port: UInt16 = 0,
        limits: AdmissionLimits = AdmissionLimits(), memory: KnownAddressStore = KnownAddressStore(),
        isLocal: @escaping @Sendable (SocketAddress) -> Bool = { _ in true }, owner: Owner
    ) async throws(ListenError) -> Listener {
        let shown = ShownIdentity(identity)
        let bootstrap = ServerBootstrap.admitting(on: eventLoop, limits, memory, isLocal) { channel, id in
            try prepare(channel, id, shown.tls, limits, isLocal: channel.remoteAddress.map(isLocal) ?? false, owner)
        }
        let channel = try await bootstrap.listen(loopbackOnly: loopbackOnly, port: port)
        return Listener(port: UInt16(channel.localAddress?.port ?? 0), channel: channel, shown: shown)
    }

    private static func prepare<Owner: ConnectionOwner>(
        _ channel: any Channel, _ id: ConnectionID, _ tls: NIOSSLContext, _ limits: AdmissionLimits, isLocal: Bool,
        _ owner: Owner
    ) throws {
        let peer = PeerVerification(expecting: nil)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ByteAllowanceHandler(limits.bytes), name: ByteAllowanceHandler.name)
        try pipeline.addHandler(CompactWritesHandler())
        let handler = NIOSSLServerHandler(context: tls, customVerificationCallback: peer.verify)
        try pipeline.addHandler(handler, name: HandshakeHandler.tlsName)
        try pipeline.addHandlers([
            HandshakeHandler(id: id, peer: peer), OwnerHandler(id: id, owner: owner, peer: peer, isLocal: isLocal),
        ])
    }

    /// Replaces the identity for new connections.
    public func show(_ identity: TransportIdentity) { shown.show(identity) }

    /// Stops accepting. Open connections stay open.
    public func stop() async {
        try? await channel.close()
    }
}

extension ServerBootstrap {
    /// Accepts the connections that an ``Admission`` admits.
    ///
    /// - Parameter prepare: adds the handlers to the pipeline of an admitted connection.
    static func admitting(
        on eventLoop: any EventLoop, _ limits: AdmissionLimits, _ memory: KnownAddressStore,
        _ isLocal: @escaping @Sendable (SocketAddress) -> Bool = { _ in true },
        prepare: @escaping @Sendable (any Channel, ConnectionID) throws -> Void
    ) -> ServerBootstrap {
        ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: SocketLimits.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { server in
                server.eventLoop.makeCompletedFuture {
                    try server.pipeline.syncOperations.addHandler(
                        AdmissionHandler(limits, memory, isLocal: isLocal, prepare: prepare))
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: SocketLimits.sendBuffer)
            .childChannelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: SocketLimits.receiveBuffer)
            )
    }

    /// Binds to all addresses of this machine, or to loopback. Uses only IPv4 if the kernel has no IPv6.
    func listen(loopbackOnly: Bool, port: UInt16) async throws(ListenError) -> any Channel {
        var host = loopbackOnly ? "127.0.0.1" : "::"
        while true {
            do {
                return try await bind(to: SocketAddress(ipAddress: host, port: Int(port))).get()
            } catch let error as IOError where host == "::" && lacksIPv6(error.errnoCode) {
                host = "0.0.0.0"
            } catch {
                throw ListenError(address: host, port: port, reason: reason(for: error))
            }
        }
    }
}

/// The TLS context of the plug's identity, which can change while the plug listens.
private final class ShownIdentity: Sendable {
    private let context: Mutex<NIOSSLContext>

    init(_ identity: TransportIdentity) { context = Mutex(TLSSettings.forPlug(identity)) }

    var tls: NIOSSLContext { context.withLock { $0 } }

    func show(_ identity: TransportIdentity) {
        let new = TLSSettings.forPlug(identity)
        context.withLock { $0 = new }
    }
}

/// The plug could not listen for controllers.
public struct ListenError: Error, CustomStringConvertible, Sendable {
    /// The address.
    public var address: String
    /// The TCP port, 0 if the kernel picks it.
    public var port: UInt16
    /// The reason as text for a user.
    public var reason: String

    public var description: String {
        let hint =
            port == 0
            ? "check that this process may use the network"
            : "another program may use the port; without --port the kernel chooses a free one"
        return "cannot listen on \(address) port \(port): \(reason)\nhint: \(hint)"
    }
}
