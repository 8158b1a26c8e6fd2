public import NIOCore
import NIOPosix
import PlugProtocol

/// Opens a connection to the first of a plug's addresses that answers.
///
/// The addresses are tried as RFC 8305 says (IPv6 first, the next after 250 ms without an answer); NIO's connector does that
/// for a name, so the addresses already known are given to it as the answer to one.
public struct Dialer: Sendable {
    private let numbers = ConnectionNumbers()

    public init() {}

    /// Connects and reports to `owner` from `opened` on, on `eventLoop`, which must be the owner's executor. Where two
    /// addresses answer at the same moment both may be reported, each with an id of its own; one of them is closed at once.
    ///
    /// - Parameters:
    ///   - addresses: of the plug, link-local IPv6 ones with their scope.
    ///   - timeout: for all attempts together.
    /// - Throws: ``DialError``.
    public func connect<Owner: ConnectionOwner>(
        to addresses: [SocketAddress], timeout: TimeAmount = .seconds(10), on eventLoop: any EventLoop, owner: Owner
    ) async throws(DialError) {
        let bootstrap = ClientBootstrap(group: eventLoop)
            .resolver(KnownAddresses(addresses: addresses, eventLoop: eventLoop))
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.writeBufferWaterMark, value: SocketLimits.sendBuffer)
            .channelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: SocketLimits.receiveBuffer)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(OwnerHandler(id: numbers.next(), owner: owner))
                }
            }
        do {
            _ = try await bootstrap.connect(host: "plug", port: addresses.first?.port ?? 0).get()
        } catch let error as NIOConnectionError {
            throw DialError(attempts: error.connectionErrors.map { .init(address: $0.target, error: $0.error) })
        } catch {
            throw DialError(attempts: addresses.map { .init(address: $0, error: error) })
        }
    }
}

/// Answers a name with the addresses already known.
private struct KnownAddresses: Resolver, Sendable {
    let addresses: [SocketAddress]
    let eventLoop: any EventLoop

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        eventLoop.makeSucceededFuture(addresses.filter { $0.protocol == .inet })
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        eventLoop.makeSucceededFuture(addresses.filter { $0.protocol == .inet6 })
    }

    func cancelQueries() {}
}
