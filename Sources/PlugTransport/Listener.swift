import LinuxNetwork
public import NIOCore
import NIOPosix
import NIOSSL
import PlugModel
import Synchronization

/// Accepts controllers on a TCP port that the kernel picks.
public struct Listener: Sendable {
    /// The port to announce in the SRV record.
    public let port: UInt16
    private let channel: any Channel
    private let shown: ShownIdentity

    /// Binds and starts to accept. A connection is reported to `owner`, whose executor must be `eventLoop`, once it is secured.
    /// The owner says by ``Connection/markPaired()`` whom it knows; the others have to leave after a time.
    ///
    /// - Parameters:
    ///   - identity: what the plug proves itself with.
    ///   - loopbackOnly: listens on 127.0.0.1 alone, for a plug that stays on this machine.
    ///   - port: 0 lets the kernel pick one.
    ///   - limits: on those who are not known as paired controllers.
    ///   - memory: of where those come from who are.
    /// - Throws: ``ListenError`` naming the address, the reason and what to try.
    public static func start<Owner: ConnectionOwner>(
        on eventLoop: any EventLoop, identity: TransportIdentity, loopbackOnly: Bool, port: UInt16 = 0,
        limits: AdmissionLimits = AdmissionLimits(), memory: AddressMemory = AddressMemory(), owner: Owner
    ) async throws(ListenError) -> Listener {
        let shown = ShownIdentity(identity)
        let bootstrap = ServerBootstrap.admitting(on: eventLoop, limits, memory) { channel, id in
            try prepare(channel, id, shown.tls, limits, owner)
        }
        let channel = try await bootstrap.listen(loopbackOnly: loopbackOnly, port: port)
        return Listener(port: UInt16(channel.localAddress?.port ?? 0), channel: channel, shown: shown)
    }

    private static func prepare<Owner: ConnectionOwner>(
        _ channel: any Channel, _ id: ConnectionID, _ tls: NIOSSLContext, _ limits: AdmissionLimits, _ owner: Owner
    ) throws {
        let peer = PeerVerification(expecting: nil)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ByteAllowanceHandler(limits.bytes), name: ByteAllowanceHandler.name)
        try pipeline.addHandler(CompactWritesHandler())
        let handler = NIOSSLServerHandler(context: tls, customVerificationCallback: peer.verify)
        try pipeline.addHandler(handler, name: HandshakeHandler.tlsName)
        try pipeline.addHandlers([
            HandshakeHandler(id: id, peer: peer), OwnerHandler(id: id, owner: owner, peer: peer),
        ])
    }

    /// Connections that are accepted from now on are shown this identity.
    public func show(_ identity: TransportIdentity) { shown.show(identity) }

    /// Stops accepting; connections that are open stay.
    public func stop() async {
        try? await channel.close()
    }
}

extension ServerBootstrap {
    /// Accepts those whom an ``Admission`` lets in.
    ///
    /// - Parameter prepare: puts the handlers into the pipeline of a connection that was admitted.
    static func admitting(
        on eventLoop: any EventLoop, _ limits: AdmissionLimits, _ memory: AddressMemory,
        prepare: @escaping @Sendable (any Channel, ConnectionID) throws -> Void
    ) -> ServerBootstrap {
        ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: SocketLimits.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { server in
                server.eventLoop.makeCompletedFuture {
                    try server.pipeline.syncOperations.addHandler(
                        AdmissionHandler(limits, memory, prepare: prepare))
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: SocketLimits.sendBuffer)
            .childChannelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: SocketLimits.receiveBuffer)
            )
    }

    /// Binds to all addresses of this machine, or to loopback; IPv4 alone where the kernel has no IPv6.
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

/// What the plug proves itself with, which may change while it listens.
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
    public var address: String
    public var port: UInt16
    public var reason: String

    public var description: String {
        let hint =
            port == 0
            ? "check that the network is not denied to this process"
            : "another program may hold the port; leave --port away and the kernel picks a free one"
        return "cannot listen on \(address) port \(port): \(reason)\nhint: \(hint)"
    }
}
