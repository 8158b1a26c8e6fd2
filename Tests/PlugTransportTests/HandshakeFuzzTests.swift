import NIOCore
import NIOEmbedded
import NIOSSL
import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import PlugTransport

/// Handshakes whose bytes are changed, dropped, duplicated or inserted. The plug must not crash, and each secured
/// connection must belong to the controller's key.
@Suite struct HandshakeFuzzTests {
    private let plug = TLSSettings.forPlug(TransportIdentity())
    private let identity = TransportIdentity()

    @Test("An altered handshake never secures a connection with a different key")
    func noChangeOnTheWayLetsAnybodyInWithAnotherKey() throws {
        let controller = TLSSettings.forController(identity, keyLog: nil)
        var random = Fuzzing.random(4)
        var secured = 0
        var refused = 0
        for round in FuzzRounds(400) {
            let bench = try HandshakeBench(plug: plug, controller: controller)
            // Every tenth handshake is not altered, which proves that the handshakes can succeed.
            let isAltered = !round.isMultiple(of: 10)
            try bench.run { bytes in isAltered && random.chance(0.4) ? Self.alter(bytes, &random) : bytes }
            #expect(bench.active.count <= 1)
            #expect(bench.active.allSatisfy { $0 == identity.publicKey })
            #expect(isAltered || bench.active.count == 1)
            if bench.active.isEmpty { refused += 1 } else { secured += 1 }
            bench.end()
        }
        #expect(secured > 40)
        #expect(refused > 100)
    }

    /// Alters the bytes at a random place.
    private static func alter(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        guard !bytes.isEmpty else { return bytes }
        var bytes = bytes
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.removeSubrange(place...)
        case 2: bytes.remove(at: place)
        case 3: bytes += bytes
        case _: bytes.insert(contentsOf: (0..<40).map { _ in .random(in: .min ... .max, using: &random) }, at: place)
        }
        return bytes
    }
}

/// Both ends of a connection, between which the test carries the bytes.
private struct HandshakeBench {
    private let plug = EmbeddedChannel()
    private let controller = EmbeddedChannel()
    private let observer: Observer

    init(plug tls: NIOSSLContext, controller controllerTLS: NIOSSLContext) throws {
        let peer = PeerVerification(expecting: nil)
        observer = Observer(peer)
        let handler = NIOSSLServerHandler(context: tls, customVerificationCallback: peer.verify)
        try plug.pipeline.syncOperations.addHandler(handler, name: HandshakeHandler.tlsName)
        try plug.pipeline.syncOperations.addHandlers([
            HandshakeHandler(id: ConnectionID(rawValue: 1), peer: peer), observer,
        ])
        let other = PeerVerification(expecting: nil)
        try controller.pipeline.syncOperations.addHandler(
            NIOSSLClientHandler(context: controllerTLS, serverHostname: nil, customVerificationCallback: other.verify),
            name: HandshakeHandler.tlsName)
        try controller.pipeline.syncOperations.addHandler(
            HandshakeHandler(id: ConnectionID(rawValue: 1), peer: other))
    }

    /// The verified keys at the time when the plug's side became active.
    var active: [PublicKey?] { observer.active }

    /// Carries bytes in both directions until both sides are silent. `alter` changes the bytes that go to the plug.
    func run(_ alter: ([UInt8]) -> [UInt8]) throws {
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        plug.connect(to: address, promise: nil)
        controller.connect(to: address, promise: nil)
        while true {
            let there = try Self.take(from: controller)
            Self.give(alter(there), to: plug)
            let back = try Self.take(from: plug)
            Self.give(back, to: controller)
            if there.isEmpty, back.isEmpty { return }
        }
    }

    func end() {
        // No peer would answer a close notification.
        for channel in [plug, controller] { channel.closeAtOnce() }
    }

    private static func take(from channel: EmbeddedChannel) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
        return bytes
    }

    private static func give(_ bytes: [UInt8], to channel: EmbeddedChannel) {
        guard !bytes.isEmpty, channel.isActive else { return }
        channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes))
        channel.pipeline.fireChannelReadComplete()
        // The result of the key verification arrives in a later tick of the loop.
        channel.embeddedEventLoop.run()
    }
}

private final class Observer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private(set) var active: [PublicKey?] = []
    private let peer: PeerVerification

    init(_ peer: PeerVerification) { self.peer = peer }

    func channelActive(context: ChannelHandlerContext) { active.append(peer.key) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
