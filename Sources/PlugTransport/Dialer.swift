public import NIOCore
import NIOPosix
import NIOSSL
public import PlugModel

/// Opens a secured connection to the first of a plug's addresses that answers as the plug.
///
/// The addresses are tried as RFC 8305 says (IPv6 first, the next after 250 ms without an answer); NIO's connector does that
/// for a name, so the addresses already known are given to it as the answer to one.
public struct Dialer: Sendable {
    private let numbers = ConnectionNumbers()
    private let tls: NIOSSLContext

    /// - Parameters:
    ///   - identity: what this side proves itself with.
    ///   - keyLog: gets the secrets of every connection, for packet traces.
    public init(identity: TransportIdentity, keyLog: KeyLog? = nil) {
        tls = TLSSettings.forController(identity, keyLog: keyLog)
    }

    /// Connects and reports to `owner` from `opened` on, on `eventLoop`, which must be the owner's executor. The owner hears of
    /// the one connection that is returned and of no other attempt.
    ///
    /// A plug that does not want this controller says so only after that: in TLS 1.3 the client is ready first.
    ///
    /// - Parameters:
    ///   - addresses: of the plug, link-local IPv6 ones with their scope.
    ///   - key: the plug's, where it is known. Whoever has another gets no byte from this side; nil takes any.
    ///   - next: the key that it has announced, which will do too.
    ///   - timeout: for everything together.
    /// - Throws: ``DialError``.
    public func connect<Owner: ConnectionOwner>(
        to addresses: [SocketAddress], expecting key: PublicKey? = nil, or next: PublicKey? = nil,
        timeout: TimeAmount = .seconds(10), on eventLoop: any EventLoop, owner: Owner
    ) async throws(DialError) {
        guard let first = addresses.first else { throw DialError(attempts: []) }
        let deadline = NIODeadline.now() + timeout
        var remaining = addresses
        var attempts: [DialError.Attempt] = []
        // An address may be another machine's by now, which must not hide the right one.
        while true {
            let channel: any Channel
            do {
                channel = try await open(remaining, until: deadline, on: eventLoop)
            } catch {
                throw DialError(attempts: attempts + error.attempts)
            }
            let address = channel.remoteAddress ?? first
            do {
                return try await secure(channel, (key, next), until: deadline, owner: owner)
            } catch {
                attempts.append(.init(address: address, .init(error)))
                remaining.removeAll { $0 == address }
            }
            guard !remaining.isEmpty, attempts.count < addresses.count, NIODeadline.now() < deadline else {
                throw DialError(attempts: attempts)
            }
        }
    }

    private func open(
        _ addresses: [SocketAddress], until deadline: NIODeadline, on eventLoop: any EventLoop
    ) async throws(DialError) -> any Channel {
        let bootstrap = ClientBootstrap(group: eventLoop)
            .resolver(KnownAddresses(addresses: addresses, eventLoop: eventLoop))
            .connectTimeout(deadline - .now())
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.writeBufferWaterMark, value: SocketLimits.sendBuffer)
            .channelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: SocketLimits.receiveBuffer)
            )
            // Nothing is read before the handlers are in place.
            .channelOption(.autoRead, value: false)
        do {
            return try await bootstrap.connect(host: "plug", port: addresses.first?.port ?? 0).get()
        } catch let error as NIOConnectionError {
            throw DialError(
                attempts: error.connectionErrors.map { .init(address: $0.target, .unreachable(reason(for: $0.error))) })
        } catch {
            throw DialError(attempts: addresses.map { .init(address: $0, .unreachable(reason(for: error))) })
        }
    }

    /// Returns when the owner has heard of the connection.
    private func secure<Owner: ConnectionOwner>(
        _ channel: any Channel, _ keys: (PublicKey?, PublicKey?), until deadline: NIODeadline, owner: Owner
    ) async throws(HandshakeError) {
        do {
            try await channel.eventLoop.flatSubmit {
                let result = channel.eventLoop.makePromise(of: Void.self)
                let overdue = channel.eventLoop.scheduleTask(deadline: deadline) {
                    result.fail(HandshakeError.timedOut)
                    channel.close(promise: nil)
                }
                result.futureResult.whenComplete { _ in overdue.cancel() }
                do {
                    try prepare(channel, keys, owner: owner, result: result)
                } catch {
                    result.fail(error)
                    channel.close(promise: nil)
                }
                return result.futureResult
            }.get()
        } catch let error as HandshakeError {
            throw error
        } catch {
            throw .failed(reason(for: error))
        }
    }

    private func prepare<Owner: ConnectionOwner>(
        _ channel: any Channel, _ keys: (PublicKey?, PublicKey?), owner: Owner, result: EventLoopPromise<Void>
    ) throws {
        guard channel.isActive else { throw HandshakeError.closed }
        let id = numbers.next()
        let pipeline = channel.pipeline.syncOperations
        let peer = PeerVerification(expecting: keys.0, or: keys.1)
        let handler = try NIOSSLClientHandler(
            context: tls, serverHostname: nil, customVerificationCallback: peer.verify)
        try pipeline.addHandler(handler, name: HandshakeHandler.tlsName)
        try pipeline.addHandlers([
            HandshakeHandler(id: id, peer: peer, result: result), OwnerHandler(id: id, owner: owner, peer: peer),
        ])
        try channel.syncOptions?.setOption(.autoRead, value: true)
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
