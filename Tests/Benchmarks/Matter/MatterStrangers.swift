import Foundation
import LinuxSystem
import MatterCryptography
import MatterSessions
import MatterWire
import ProtocolCore
import TestSupport

/// Sends 1,000 first messages of handshakes per second to a plug from many loopback addresses, each from a new ephemeral
/// node, and never continues a handshake.
enum MatterStrangers {
    /// The handshake that the peers begin.
    enum Handshake: String, CaseIterable {
        case pase, sigma1

        /// The name in figures.
        var name: String {
            switch self {
            case .pase: "PASE messages"
            case .sigma1: "Sigma1 messages"
            }
        }
    }

    /// The number of addresses from which the messages come.
    private static let addresses = 500
    /// The number of different messages, which are computed before the flood.
    private static let messages = 50

    /// Sends `count` messages of the handshake with this name, and prints the seconds that this took.
    static func run(_ name: String, port: Int, count: Int) throws {
        guard let handshake = Handshake(rawValue: name) else {
            throw BenchmarkError("unknown handshake \(name); the handshakes are pase and sigma1")
        }
        let sockets = try (0..<Self.addresses).map { try UDPSocket.connected(to: port, from: $0) }
        let payloads = try (0..<Self.messages).map { try first(handshake, number: UInt8($0)) }
        var random = SeededRandom(seed: UInt64(getpid()))
        let began = BootClock.now
        for number in 0..<count {
            let due = began + .milliseconds(Int64(number))
            while case let left = due - BootClock.now, left > .zero { usleep(UInt32(left.wholeNanoseconds / 1000) + 1) }
            let (opcode, payload) = payloads[number % payloads.count]
            let counter = UInt32.random(in: 1...UInt32.max, using: &random)
            let header = MessageHeader(sessionID: 0, counter: counter, source: random.next() >> 1 | 1)
            let inner = ProtocolHeader(
                isInitiator: true, needsAcknowledgement: true, opcode: opcode.rawValue,
                exchange: UInt16(truncatingIfNeeded: number), protocolID: MatterProtocol.secureChannel)
            let bytes = header.encoded + inner.encoded + payload
            _ = send(sockets[number % sockets.count], bytes, bytes.count, Int32(MSG_DONTWAIT))
        }
        print((BootClock.now - began).inSeconds)
        fflush(nil)
    }

    private static func first(_ handshake: Handshake, number: UInt8) throws -> (SecureChannelOpcode, [UInt8]) {
        var randomness = MatterRandomness(seed: Array(repeating: number, count: 32))
        switch handshake {
        case .pase:
            var initiator = PASEInitiator(passcode: 20_202_021, sessionID: 7, randomness: randomness)
            return initiator.start()
        case .sigma1:
            let identity = try MatterCertificateIssuer(fabric: 99, seed: 99)
                .identity(node: 1, tags: [], key: randomness.signingKey())
            var initiator = CASEInitiator(
                fabric: identity, peer: 2, sessionID: 7, randomness: randomness)
            return try initiator.start(OpenSSLCryptography())
        }
    }
}
