import LinuxNetwork
public import NIOCore
import NIOPosix
import PlugProtocol

/// Accepts controllers on a TCP port that the kernel picks.
public struct Listener: Sendable {
    /// The port to announce in the SRV record.
    public let port: UInt16
    private let channel: any Channel

    /// Binds and starts to accept; each connection is reported to `owner`, whose executor must be `eventLoop`.
    ///
    /// - Parameters:
    ///   - loopbackOnly: listens on 127.0.0.1 alone, for a plug that stays on this machine.
    ///   - port: 0 lets the kernel pick one.
    /// - Throws: ``ListenError`` naming the address, the reason and what to try.
    public static func start<Owner: ConnectionOwner>(
        on eventLoop: any EventLoop, loopbackOnly: Bool, port: UInt16 = 0, owner: Owner
    ) async throws(ListenError) -> Listener {
        var host = loopbackOnly ? "127.0.0.1" : "::"
        while true {
            do {
                let channel = try await bind(on: eventLoop, host: host, port: port, owner: owner)
                return Listener(port: UInt16(channel.localAddress?.port ?? 0), channel: channel)
            } catch let error as IOError where host == "::" && lacksIPv6(error.errnoCode) {
                host = "0.0.0.0"
            } catch {
                throw ListenError(address: host, port: port, reason: reason(for: error))
            }
        }
    }

    private static func bind<Owner: ConnectionOwner>(
        on eventLoop: any EventLoop, host: String, port: UInt16, owner: Owner
    ) async throws -> any Channel {
        let numbers = ConnectionNumbers()
        return try await ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: SocketLimits.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: SocketLimits.sendBuffer)
            .childChannelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: SocketLimits.receiveBuffer)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(OwnerHandler(id: numbers.next(), owner: owner))
                }
            }
            .bind(to: SocketAddress(ipAddress: host, port: Int(port))).get()
    }

    /// Stops accepting; connections that are open stay.
    public func stop() async {
        try? await channel.close()
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
