import DNSWire
import PortMapping
import Testing

@testable import LinuxNetwork

@Suite struct RegisteredPlaceTests {
    private struct Place: Equatable {
        let addresses: [IPAddress]
        let port: UInt16
    }

    private let own: [IPAddress] = [.v4(192, 168, 1, 7), .v6(IPv6Address(high: 0x2001_0DB8 << 32, low: 7))]
    private let outside = IPAddress.v4(203, 0, 113, 1)
    private let failed = MappedPort.State.failed(.noAnswer)

    private func mapped(_ address: IPAddress, _ port: UInt16 = 4711) -> MappedPort.State {
        .mapped(PortMapping(address: address, port: port))
    }

    private func place(_ mapping: MappedPort.State?, _ pinhole: MappedPort.State? = nil) -> Place? {
        RegisteredPlace(port: 4711, interfaces: own, mapping: mapping, pinhole: pinhole)
            .map { Place(addresses: $0.addresses, port: $0.port) }
    }

    @Test("Without a public mapping, the addresses of the interfaces are registered") func interfaces() {
        for mapping in [nil, failed, mapped(.v4(192, 168, 7, 2), 50_000), mapped(.v4(100, 64, 0, 1), 50_000)] {
            for pinhole in [nil, .waiting, failed, mapped(.v6(IPv6Address(high: 0xFD00 << 48, low: 7)), 50_000)] {
                #expect(place(mapping, pinhole) == Place(addresses: own, port: 4711))
            }
        }
    }

    @Test("Nothing is registered while the IPv4 router has not answered") func waiting() {
        #expect(place(.waiting) == nil)
        #expect(place(.waiting, mapped(own[1])) == nil)
    }

    @Test("The external address and port are registered, and the pinhole if it has the same port") func external() {
        for pinhole in [nil, .waiting, failed, mapped(own[1])] {
            #expect(place(mapped(outside, 50_000), pinhole) == Place(addresses: [outside], port: 50_000))
        }
        for port in [4711, 50_000] as [UInt16] {
            let both = Place(addresses: [outside, own[1]], port: port)
            #expect(place(mapped(outside, port), mapped(own[1], port)) == both)
        }
    }

    @Test("A pinhole is registered if IPv4 is not possible") func pinhole() {
        for mapping in [failed, mapped(.v4(100, 64, 0, 1), 50_000)] {
            for port in [4711, 50_001] as [UInt16] {
                #expect(place(mapping, mapped(own[1], port)) == Place(addresses: [own[1]], port: port))
            }
        }
    }
}
