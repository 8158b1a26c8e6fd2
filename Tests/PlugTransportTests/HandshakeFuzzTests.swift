import Fuzzing
import NIOCore
import NIOEmbedded
import NIOSSL
import PlugModel
import ProtocolCore
import Testing

@testable import PlugTransport

/// Handshakes with bytes changed, left out, doubled or made up on their way: the plug survives them, and whoever comes through
/// has proved the key that he has.
@Suite struct HandshakeFuzzTests {
    private let plug = TLSSettings.forPlug(TransportIdentity())
    private let identity = TransportIdentity()

    @Test func noChangeOnTheWayLetsAnybodyInWithAnotherKey() throws {
        let controller = TLSSettings.forController(identity, keyLog: nil)
        var random = Fuzzing.random(4)
        var secured = 0
        var refused = 0
        for round in FuzzRounds(400) {
            let bench = try HandshakeBench(plug: plug, controller: controller)
            // Every tenth is left alone, so that the test knows that its handshakes could succeed.
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

/// A plug's and a controller's end of one connection, with the wire in the test's hands.
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

    /// The keys that were verified when the plug's side became active.
    var active: [PublicKey?] { observer.active }

    /// Carries bytes until neither side has any; `alter` sees those to the plug.
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
        // Nobody would answer its goodbye.
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
        // The verdict on the key comes in another turn of the loop.
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
