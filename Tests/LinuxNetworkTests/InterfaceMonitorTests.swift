import Glibc
import TestSupport
import Testing

@testable import LinuxNetwork

@Suite(
    "Monitoring interfaces in a namespace",
    .enabled(if: PrivateNetwork.isAvailable, Comment(rawValue: PrivateNetwork.reason)))
struct InterfaceMonitorTests {
    @Test("An interface appears, gets addresses, loses its link and disappears", .timeLimit(.minutes(1)))
    func lifeOfAnInterface() async throws {
        let network = try await PrivateNetwork()
        var lists = InterfaceMonitor.interfaces(.named(["lo", "eth7"]), on: network.eventLoop).makeAsyncIterator()

        /// Skips lists until the expected one.
        func wait(_ isExpected: (LinuxInterface?) -> Bool) async throws {
            while let list = try await lists.next() {
                if isExpected(list.first { $0.name == "eth7" }) { return }
            }
            Issue.record("the sequence ended")
        }

        let first = try #require(try await lists.next())
        #expect(first.map(\.name) == ["lo"])
        #expect(first[0].addresses.contains { $0.bytes == [127, 0, 0, 1] && $0.prefixLength == 8 })
        #expect(first[0].isOperational && first[0].flags.contains(.loopback))

        try await network.ip("link add eth7 type veth peer name other")
        try await wait { $0 != nil && $0?.isOperational == false }
        try await network.ip("addr add 192.0.2.7/24 dev eth7")
        try await wait { $0?.addresses == [LinuxAddress(bytes: [192, 0, 2, 7], prefixLength: 24)] }
        try await network.ip("link set eth7 up")
        try await network.ip("link set other up")
        // The kernel reports the link-local address after duplicate address detection, one or two seconds later.
        try await wait { $0?.isOperational == true && $0?.addresses.contains { $0.isIPv6 && $0.isUsable } == true }
        try await network.ip("link set other down")
        try await wait { $0?.isOperational == false }
        try await network.ip("link del eth7")
        try await wait { $0 == nil }
    }

    @Test("A list that is longer than one datagram is complete", .timeLimit(.minutes(1)))
    func longList() async throws {
        let network = try await PrivateNetwork()
        for number in 0..<75 { try await network.ip("link add left\(number) type veth peer name right\(number)") }
        let names = Set((0..<75).flatMap { ["left\($0)", "right\($0)"] })
        for try await list in InterfaceMonitor.interfaces(.named(names), on: network.eventLoop) {
            #expect(Set(list.map(\.name)) == names)
            break
        }
    }

    @Test("After the kernel dropped messages, a new list is complete", .timeLimit(.minutes(1)))
    func overflow() async throws {
        let network = try await PrivateNetwork()
        var lists = InterfaceMonitor.interfaces(.named(["lo"]), on: network.eventLoop).makeAsyncIterator()
        let first = try #require(try await lists.next())
        // The loop waits for the command, so the socket is not read while thousands of messages arrive.
        let changes = (0..<3000).map { "addr \($0.isMultiple(of: 2) ? "add" : "del") 192.0.2.9/32 dev lo" }
        let folder = TestFolder()
        let path = folder.path + "/changes"
        let file = try #require(fopen(path, "w"))
        fputs((changes + ["addr add 192.0.2.10/32 dev lo"]).joined(separator: "\n") + "\n", file)
        fclose(file)
        try await network.ip("-batch \(path)")
        let last = LinuxAddress(bytes: [192, 0, 2, 10], prefixLength: 32)
        while let list = try await lists.next() {
            guard list.first?.addresses.contains(last) == true else { continue }
            #expect(list.first?.addresses == (first[0].addresses + [last]).sorted())
            return
        }
        Issue.record("the sequence ended")
    }
}
