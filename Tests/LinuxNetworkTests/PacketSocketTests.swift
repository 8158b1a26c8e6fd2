import Glibc
import Logging
import NIOCore
import TestSupport
import Testing

@testable import LinuxNetwork

@Suite(
    "Packet sockets in a namespace", .enabled(if: PrivateNetwork.isAvailable, Comment(rawValue: PrivateNetwork.reason)))
struct PacketSocketTests {
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Returns an ARP frame that contains only a number.
    private func frame(to destination: [UInt8], _ number: UInt8) -> [UInt8] {
        destination + [2, 0, 0, 0, 0, 9, 8, 6] + [UInt8](repeating: number, count: 46)
    }

    /// The upper interface is a `macvlan`, because not every kernel has VLANs. As with a VLAN, the kernel also passes
    /// its frames to sockets of the lower interface.
    @Test("A frame for another interface on top of the socket's interface is not received", .timeLimit(.minutes(1)))
    func otherInterface() async throws {
        let network = try await PrivateNetwork()
        try await network.connectedPair("left", "right")
        try await network.ip("link add link left name upper address 02:00:00:00:00:01 type macvlan mode bridge")
        try await network.ip("link set upper up")
        let (eventLoop, silent) = (network.eventLoop, silent)
        let (frames, received) = AsyncStream<[UInt8]>.makeStream()
        let sockets = try await eventLoop.submit {
            ["left", "right"].map { (name: String) in
                PacketSocket(.arp, interface: Int32(if_nametoindex(name)), on: eventLoop, logger: silent) {
                    if name == "left" { received.yield($0) }
                }
            }
        }.get()
        let upper = frame(to: [2, 0, 0, 0, 0, 1], 1)
        let own = frame(to: [UInt8](repeating: 0xFF, count: 6), 2)
        // Frames are lost until both sockets are open.
        let sending = Task {
            while !Task.isCancelled {
                _ = try? await eventLoop.submit { for frame in [upper, own] { sockets[1].send(frame) } }.get()
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        var heard: [[UInt8]] = []
        for await frame in frames {
            heard.append(frame)
            if heard.count == 4 { break }
        }
        sending.cancel()
        #expect(heard == [own, own, own, own])
        try await eventLoop.submit { for socket in sockets { socket.close() } }.get()
    }
}
