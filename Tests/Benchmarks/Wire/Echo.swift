import Foundation
import NIOCore
import NIOPosix

/// The server of the reference for latencies: NIO's async channels and TLS, with an echo of 100 bytes.
enum EchoServer {
    static func run() async throws {
        let context = try BareTLS.serverContext()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(BareTLS.serverHandler(context))
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        print(server.channel.localAddress?.port ?? 0)
        fflush(nil)
        try await withThrowingTaskGroup { group in
            group.addTask {
                for await _ in standardInput() {}
            }
            group.addTask {
                try await server.executeThenClose { connections in
                    for try await connection in connections {
                        try await connection.executeThenClose { inbound, outbound in
                            for try await bytes in inbound { try await outbound.write(bytes) }
                        }
                    }
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }
}

/// The client of ``EchoServer``.
struct EchoClient {
    private static let size = 100
    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

    init(port: Int) async throws {
        let context = try BareTLS.clientContext()
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(BareTLS.clientHandler(context))
                    return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// Runs `body` with a function that makes one round trip.
    func withRoundTrips(_ body: (_ roundTrip: () async throws -> Void) async throws -> Void) async throws {
        try await channel.executeThenClose { inbound, outbound in
            let question = ByteBuffer(repeating: 1, count: Self.size)
            var answers = inbound.makeAsyncIterator()
            try await body {
                try await outbound.write(question)
                var missing = Self.size
                while missing > 0 {
                    guard let bytes = try await answers.next() else { throw BenchmarkError("the echo ended") }
                    missing -= bytes.readableBytes
                }
            }
        }
    }
}
