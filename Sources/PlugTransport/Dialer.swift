public import NIOCore
import NIOPosix
import NIOSSL
public import PlugModel

/// Opens a secured connection to the first of a plug's addresses that has the plug's key.
///
/// Addresses are tried as in RFC 8305: IPv6 first, the next one after 250 ms without an answer. NIO's connector
/// implements this for names, so the known addresses are passed to it as the result of a name lookup.
public struct Dialer: Sendable {
    private let numbers = ConnectionNumbers()
    private let tls: NIOSSLContext

    /// Creates a dialer.
    ///
    /// - Parameters:
    ///   - identity: the identity of this side.
    ///   - keyLog: a file for the secrets of every connection, for packet traces.
    public init(identity: TransportIdentity, keyLog: KeyLog? = nil) {
        tls = TLSSettings.forController(identity, keyLog: keyLog)
    }

    /// Connects and reports the successful connection to `owner`, starting with `opened`, on `eventLoop`, which must be
    /// the owner's executor. Failed attempts are not reported to the owner.
    ///
    /// In TLS 1.3 the client completes its handshake before the server. A plug that rejects this controller therefore
    /// may close the connection after this method has returned.
    ///
    /// - Parameters:
    ///   - addresses: the addresses of the plug. Link-local IPv6 addresses need their scope.
    ///   - key: the expected key. A peer with a different key receives no data. Nil accepts any key.
    ///   - next: the plug's announced next key, which is accepted too.
    ///   - timeout: the time limit for all attempts together.
    ///   - opened: reports the connection to the owner.
    /// - Throws: ``DialError``.
    public func connect<Owner: ConnectionOwner>(
        to addresses: [SocketAddress], expecting key: PublicKey? = nil, or next: PublicKey? = nil,
        timeout: TimeAmount = .seconds(10), on eventLoop: any EventLoop, owner: Owner,
        opened: @escaping @Sendable (isolated Owner, Connection) -> Void = { $0.opened($1) }
    ) async throws(DialError) {
        guard let first = addresses.first else { throw DialError(attempts: []) }
        let deadline = NIODeadline.now() + timeout
        var remaining = addresses
        var attempts: [DialError.Attempt] = []
        // An address may now belong to a different machine than when it was announced. The loop then tries the
        // remaining addresses.
        while true {
            let channel: any Channel
            do {
                channel = try await open(remaining, until: deadline, on: eventLoop)
            } catch {
                throw DialError(attempts: attempts + error.attempts)
            }
            let address = channel.remoteAddress ?? first
            do {
                return try await secure(channel, (key, next), until: deadline, owner: owner, opened: opened)
            } catch {
                attempts.append(.init(address: address, .init(error)))
                remaining.removeAll { $0 == address }
            }
            guard !remaining.isEmpty, attempts.count < addresses.count, NIODeadline.now() < deadline else {
                throw DialError(attempts: attempts)
            }
        }
    }

    /// Returns true if the address accepts a connection in time. The connection is closed at once.
    public func isOpen(_ address: SocketAddress, within time: TimeAmount, on eventLoop: any EventLoop) async -> Bool {
        let deadline = NIODeadline.now() + time
        guard let channel = try? await open([address], until: deadline, on: eventLoop) else { return false }
        try? await channel.close()
        return true
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
            // Reading starts only after the handlers are in place.
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

    /// Secures the connection. Returns after the owner has been informed.
    private func secure<Owner: ConnectionOwner>(
        _ channel: any Channel, _ keys: (PublicKey?, PublicKey?), until deadline: NIODeadline, owner: Owner,
        opened: @escaping @Sendable (isolated Owner, Connection) -> Void
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
                    try prepare(channel, keys, owner: owner, opened: opened, result: result)
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
        _ channel: any Channel, _ keys: (PublicKey?, PublicKey?), owner: Owner,
        opened: @escaping @Sendable (isolated Owner, Connection) -> Void, result: EventLoopPromise<Void>
    ) throws {
        guard channel.isActive else { throw HandshakeError.closed }
        let id = numbers.next()
        let pipeline = channel.pipeline.syncOperations
        let peer = PeerVerification(expecting: keys.0, or: keys.1)
        let handler = try NIOSSLClientHandler(
            context: tls, serverHostname: nil, customVerificationCallback: peer.verify)
        try pipeline.addHandler(handler, name: HandshakeHandler.tlsName)
        try pipeline.addHandlers([
            HandshakeHandler(id: id, peer: peer, result: result),
            OwnerHandler(id: id, owner: owner, peer: peer, opened: opened),
        ])
        try channel.syncOptions?.setOption(.autoRead, value: true)
    }
}

/// Resolves any name to the known addresses.
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
