import Foundation
import NIOCore
import NIOPosix
import PlugModel
import TestSupport
import Testing

@testable import PlugTransport

/// Connections from OpenSSL, an independent implementation, to a plug.
@Suite(.timeLimit(.minutes(1))) struct OpenSSLTests {
    private let plug = Greeter()
    private let identity = TransportIdentity()
    private let directory = TestFolder()

    private func listen() async throws -> Listener {
        try await Listener.start(on: plug.loop, identity: identity, loopbackOnly: true, owner: plug)
    }

    /// Creates a self-signed certificate and returns the arguments that use it.
    private func certificate(_ algorithm: [String], named name: String = "peer") async throws -> [String] {
        let (key, certificate) = (directory.path + "/\(name).key", directory.path + "/\(name).pem")

        _ = try await Program.run(
            "openssl",
            ["req", "-x509", "-nodes", "-subj", "/CN=x", "-keyout", key, "-out", certificate, "-newkey"] + algorithm)
        return ["-cert", certificate, "-key", key]
    }

    private func connect(
        to listener: Listener, _ certificate: [String], tls: String = "-tls1_3",
        alpn: [String] = ["-alpn", "smartplug/1"],
        _ more: [String] = []
    ) async throws -> String {
        let arguments = ["s_client", "-connect", "127.0.0.1:\(listener.port)", tls, "-ign_eof"]
        return try await Program.finish("openssl", arguments + certificate + alpn + more, input: "hello\n").output
    }

    private let p256 = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]

    @Test("A peer with a certificate is accepted without session tickets and early data")
    func aPeerWithACertificateIsServedWithoutTicketsAndEarlyData() async throws {
        let listener = try await listen()
        let session = directory.path + "/session"
        let output = try await connect(to: listener, certificate(p256), ["-sess_out", session])
        #expect(output.contains("welcome"))
        #expect(output.contains("Protocol version: TLSv1.3") || output.contains("New, TLSv1.3"))
        #expect(output.contains("ALPN protocol: smartplug/1"))
        #expect(!output.contains("New Session Ticket arrived"))
        #expect(!output.contains("Reused"))
        #expect(output.contains("Early data was not sent"))
        #expect(!FileManager.default.fileExists(atPath: session))
        let shown = try await Program.run(
            "openssl", ["x509", "-in", directory.path + "/peer.pem", "-noout", "-pubkey"])
        let key = Data(base64Encoded: shown.split(separator: "\n").dropFirst().dropLast().joined())
        #expect(await plug.keys.map(\.bytes) == [key.map(Array.init)])
        await listener.stop()
    }

    /// An OpenSSL server issues a ticket that allows early data. The ticket is then presented to the plug.
    @Test("A session ticket and early data are refused") func aTicketAndEarlyDataAreRefused() async throws {
        let listener = try await listen()
        let certificate = try await certificate(p256)
        let session = directory.path + "/session"
        let early = directory.path + "/early"
        try Data("early\n".utf8).write(to: URL(fileURLWithPath: early))
        // The server ends on its own. The script does not wait for it, because SIGCHLD may be blocked in this process.
        let script = """
            cd \(directory.path)
            openssl s_server -accept 127.0.0.1:0 -cert peer.pem -key peer.key -tls1_3 -max_early_data 16384 \
                -alpn smartplug/1 -www -naccept 1 >server 2>&1 &
            until port=$(sed -n 's/^ACCEPT .*:\\([0-9]*\\)$/\\1/p' server) && test "$port"; do :; done
            printf 'GET / HTTP/1.0\\r\\n\\r\\n' |
                openssl s_client -connect "127.0.0.1:$port" -tls1_3 -alpn smartplug/1 -ign_eof -sess_out session
            """
        _ = try await Program.run("sh", ["-c", script])
        let ticket = try await Program.run("openssl", ["sess_id", "-in", session, "-noout", "-text"])
        #expect(ticket.contains("Max Early Data: 16384"))

        let output = try await connect(to: listener, certificate, ["-sess_in", session, "-early_data", early])
        #expect(output.contains("Early data was rejected"))
        #expect(!output.contains("Reused") && output.contains("New, TLSv1.3"))
        #expect(output.contains("welcome"))
        #expect(await plug.keys.count == 1, "the peer presented its key in this handshake")
        #expect(await plug.heard == Array("hello\n".utf8))
        await listener.stop()
    }

    @Test("An Ed25519 key is accepted") func anEd25519KeyCountsToo() async throws {
        let listener = try await listen()
        let output = try await connect(to: listener, certificate(["ed25519"]))
        #expect(output.contains("welcome"))
        #expect(await plug.keys.map(\.bytes.count) == [44])
        await listener.stop()
    }

    @Test("A peer without a certificate is refused with an alert")
    func withoutACertificateThereIsOnlyARefusal() async throws {
        let listener = try await listen()
        let output = try await connect(to: listener, [])
        #expect(output.contains("tlsv13 alert certificate required"))
        #expect(await plug.keys.isEmpty)
        await listener.stop()
    }

    @Test("TLS 1.2 is refused with an alert") func anOlderTLSIsRefused() async throws {
        let listener = try await listen()
        let output = try await connect(to: listener, certificate(p256), tls: "-tls1_2")
        #expect(output.contains("alert protocol version"))
        #expect(await plug.keys.isEmpty)
        await listener.stop()
    }

    @Test("A connection without the protocol's ALPN name is refused", arguments: [[], ["-alpn", "http/1.1"]])
    func anotherProtocolInsideIsRefused(alpn: [String]) async throws {
        let listener = try await listen()
        let output = try await connect(to: listener, certificate(p256), alpn: alpn)
        #expect(!output.contains("welcome"))
        #expect(await plug.keys.isEmpty)
        await listener.stop()
    }

    /// The keys are expensive to verify, or only one of OpenSSL and BoringSSL supports them.
    @Test(
        "Keys that are neither P-256 nor Ed25519 are refused",
        arguments: [
            ["rsa:2048"], ["rsa:4096"], ["rsa-pss"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"],
            ["ec", "-pkeyopt", "ec_paramgen_curve:P-521"], ["ec", "-pkeyopt", "ec_paramgen_curve:secp256k1"],
            ["ec", "-pkeyopt", "ec_paramgen_curve:brainpoolP256r1"],
            ["ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-pkeyopt", "ec_param_enc:explicit"], ["ed448"],
        ])
    func otherKindsOfKeysAreRefused(algorithm: [String]) async throws {
        let listener = try await listen()
        let output = try await connect(to: listener, certificate(algorithm))
        #expect(!output.contains("welcome"))
        #expect(await plug.keys.isEmpty)
        // The plug still accepts connections.
        #expect(try await connect(to: listener, certificate(p256, named: "good")).contains("welcome"))
        await listener.stop()
    }
}

/// An owner that answers the first bytes with `welcome` and closes.
private actor Greeter: ConnectionOwner {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
    nonisolated let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    private var connections: [ConnectionID: Connection] = [:]
    private(set) var keys: [PublicKey] = []
    private(set) var heard: [UInt8] = []

    func opened(_ connection: Connection) {
        connections[connection.id] = connection
        keys.append(connection.peerKey)
    }
    func received(_ bytes: [UInt8], on id: ConnectionID) {
        heard += bytes
        connections[id]?.send(Array("welcome\n".utf8))
        connections[id]?.close()
    }
    func writable(_ isWritable: Bool, on id: ConnectionID) {}
    func closed(_ id: ConnectionID) { connections[id] = nil }
}
