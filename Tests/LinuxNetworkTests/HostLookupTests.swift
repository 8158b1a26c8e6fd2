import DNSWire
import NIOPosix
import Testing

@testable import LinuxNetwork

@Suite struct HostLookupTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    @Test("An IP address needs no lookup, and a name of this host is found") func addresses() async throws {
        let v4 = try await HostLookup.addresses(of: "192.0.2.7", within: .seconds(30), on: loop)
        #expect(v4.map(\.address) == [.v4(192, 0, 2, 7)])
        let scoped = try await HostLookup.addresses(of: "fe80::7%lo", within: .seconds(30), on: loop)
        #expect(scoped.map { "\($0.address)" } == ["fe80::7"] && scoped.allSatisfy { $0.interface != 0 })
        let own = try await HostLookup.addresses(of: "localhost", within: .seconds(30), on: loop)
        #expect(!own.isEmpty && own.allSatisfy { $0.address.isLoopback })
    }

    @Test("A name that does not exist is reported with the name and a reason") func missing() async {
        let error = await #expect(throws: HostLookupError.self) {
            try await HostLookup.addresses(of: "lamp.invalid", within: .seconds(60), on: loop)
        }
        #expect(error?.host == "lamp.invalid" && error?.reason.isEmpty == false)
    }
}
