import AddressConfiguration
import DNSWire
import Testing

@Suite("DHCP options")
struct DHCPOptionsTests {
    private func read(_ bytes: [UInt8]) throws -> DHCPOptions {
        try DHCPMessage(decoding: dhcpBytes(options: bytes + [255])).options
    }

    private func written(_ change: (inout DHCPOptions) -> Void) -> [UInt8] {
        var options = DHCPOptions()
        change(&options)
        let message = DHCPMessage(
            operation: .reply, transaction: 0, clientHardware: .zero, options: options)
        let bytes = Array(message.encoded[240...])
        return Array(bytes.prefix((bytes.lastIndex(of: 255) ?? 0)))
    }

    /// Checks that the value is encoded as these bytes and decoded from them.
    private func pin<Value: Equatable>(
        _ path: WritableKeyPath<DHCPOptions, Value?>, _ value: Value, _ bytes: [UInt8],
        location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(written { $0[keyPath: path] = value } == bytes, sourceLocation: location)
        #expect(try read(bytes)[keyPath: path] == value, sourceLocation: location)
    }

    @Test("Each option has its code, length and content")
    func layouts() throws {
        let (first, second) = (IPv4Address(10, 0, 0, 1), IPv4Address(10, 0, 0, 2))
        try pin(\.subnetMask, IPv4Address(255, 255, 255, 0), [1, 4, 255, 255, 255, 0])
        try pin(\.routers, [first, second], [3, 8, 10, 0, 0, 1, 10, 0, 0, 2])
        try pin(\.domainNameServers, [first, second], [6, 8, 10, 0, 0, 1, 10, 0, 0, 2])
        try pin(\.hostName, "plug", [12, 4, 0x70, 0x6C, 0x75, 0x67])
        try pin(\.domainName, "lan", [15, 3, 0x6C, 0x61, 0x6E])
        try pin(\.broadcastAddress, second, [28, 4, 10, 0, 0, 2])
        try pin(\.ntpServers, [first], [42, 4, 10, 0, 0, 1])
        try pin(\.requestedAddress, first, [50, 4, 10, 0, 0, 1])
        try pin(\.leaseTime, 0x0102_0304, [51, 4, 1, 2, 3, 4])
        try pin(\.messageType, .ack, [53, 1, 5])
        try pin(\.serverIdentifier, first, [54, 4, 10, 0, 0, 1])
        try pin(\.parameterRequestList, [.subnetMask, .staticRoutes], [55, 2, 1, 121])
        try pin(\.message, "no", [56, 2, 0x6E, 0x6F])
        try pin(\.maximumMessageSize, 1472, [57, 2, 0x05, 0xC0])
        try pin(\.renewalTime, 7, [58, 4, 0, 0, 0, 7])
        try pin(\.rebindingTime, 8, [59, 4, 0, 0, 0, 8])
        try pin(\.vendorClass, "ab", [60, 2, 0x61, 0x62])
        try pin(\.clientIdentifier, [255, 1, 2], [61, 3, 255, 1, 2])
        try pin(\.searchDomains, ["a.bc"], [119, 6, 1, 0x61, 2, 0x62, 0x63, 0])
        let route = ClasslessRoute(destination: IPv4Address(10, 9, 0, 0), prefixLength: 16, router: first)
        try pin(\.staticRoutes, [route], [121, 7, 16, 10, 9, 10, 0, 0, 1])
    }

    @Test("The message types are those of RFC 2132 §9.6")
    func messageTypes() {
        let types: [DHCPMessageType] = [.discover, .offer, .request, .decline, .ack, .nak, .release, .inform]
        #expect(types.map(\.rawValue) == Array(1...8))
    }

    @Test("An option in several pieces is joined (RFC 3396)")
    func pieces() throws {
        let options = try read([6, 2, 10, 0, 53, 1, 5, 6, 6, 0, 1, 10, 0, 0, 2])
        #expect(options.domainNameServers == [IPv4Address(10, 0, 0, 1), IPv4Address(10, 0, 0, 2)])
        #expect(options.codes == [.domainNameServers, .messageType])
    }

    @Test("An option longer than 255 bytes is split and joined again")
    func longOption() throws {
        let list = (0..<100).map { IPv4Address(10, 0, 1, $0) }
        let bytes = written { $0.domainNameServers = list }
        #expect(bytes[0...1] == [6, 255] && bytes[257...258] == [6, 145])
        #expect(bytes.count == 404)
        #expect(try read(bytes).domainNameServers == list)
    }

    @Test("An option with malformed content is nil and does not affect the others")
    func malformed() throws {
        let malformed: [[UInt8]] = [
            [1, 3, 255, 255, 255], [3, 5, 10, 0, 0, 1, 2], [3, 0], [6, 3, 1, 2, 3], [12, 0], [12, 1, 0xFF],
            [15, 3, 0x61, 0x0A, 0x62], [15, 4, 0x61, 0x2E, 0x2E, 0x62], [15, 1, 0x2E], [28, 0], [42, 2, 1, 2],
            [50, 5, 1, 2, 3, 4, 5],
            [51, 3, 0, 0, 1], [53, 1, 9], [53, 1, 0], [53, 2, 1, 1], [54, 0], [56, 1, 7], [57, 2, 0x02, 0x3F],
            [58, 1, 1], [59, 0], [60, 0], [61, 1, 1], [119, 0], [121, 0],
        ]
        for option in malformed {
            let options = try read(option + [52, 1, 0, 59, 4, 0, 0, 0, 9])
            let values: [Any?] = [
                options.subnetMask, options.routers, options.domainNameServers, options.hostName, options.domainName,
                options.broadcastAddress, options.ntpServers, options.requestedAddress, options.leaseTime,
                options.messageType, options.serverIdentifier, options.message, options.maximumMessageSize,
                options.renewalTime, options.vendorClass, options.clientIdentifier, options.searchDomains,
                options.staticRoutes,
            ]
            #expect(values.allSatisfy { $0 == nil }, "\(option)")
            #expect(option[0] == 59 || options.rebindingTime == 9, "\(option)")
        }
    }

    @Test("Zeros and a dot at the end of a domain name are removed")
    func closedText() throws {
        #expect(try read([15, 5, 0x6C, 0x61, 0x6E, 0, 0]).domainName == "lan")
        #expect(try read([15, 4, 0x6C, 0x61, 0x6E, 0x2E]).domainName == "lan")
    }

    @Test("Setting nil removes an option")
    func removal() {
        #expect(
            written {
                $0.leaseTime = 5
                $0.hostName = "a"
                $0.leaseTime = nil
                $0.message = nil
            } == [12, 1, 0x61])
    }
}

@Suite("Search domains")
struct SearchDomainTests {
    private func read(_ data: [UInt8]) throws -> [String]? {
        var options: [UInt8] = []
        var rest = data[...]
        repeat {
            options += [119, UInt8(min(rest.count, 200))] + rest.prefix(200)
            rest = rest.dropFirst(200)
        } while !rest.isEmpty
        return try DHCPMessage(decoding: dhcpBytes(options: options)).options.searchDomains
    }

    @Test("Compressed domains are decoded (example of RFC 3397 §3)")
    func example() throws {
        let data: [UInt8] =
            [3] + Array("eng".utf8) + [5] + Array("apple".utf8) + [3] + Array("com".utf8) + [0]
            + [9] + Array("marketing".utf8) + [0xC0, 4]
        #expect(try read(data) == ["eng.apple.com", "marketing.apple.com"])
        // Two pieces of the same data, split within the label "apple".
        let split = [119, 9] + data.prefix(9) + [119, UInt8(data.count - 9)] + data.dropFirst(9)
        let options = try DHCPMessage(decoding: dhcpBytes(options: split)).options
        #expect(options.searchDomains == ["eng.apple.com", "marketing.apple.com"])
    }

    @Test("Invalid pointers, truncated or empty names and invalid characters are rejected")
    func loops() throws {
        let refused: [[UInt8]] = [
            [0xC0, 0], [1, 0x61, 0xC0, 0], [1, 0x61, 0xC0, 4, 1, 0x62, 0], [0xC0], [1], [1, 0x61], [2, 0x61, 0],
            [1, 0x61, 0, 0xC0, 5, 0xC0, 3], [1, 0x61, 0xC0, 99], [0x41, 0x61, 0], [0x80, 0], [0],
            [1, 0x0A, 0], [1, 0x20, 0], [3, 0x61, 0x2E, 0x62, 0],
        ]
        for data in refused { #expect(try read(data) == nil, "\(data)") }
    }

    @Test("Labels longer than 63 bytes and names longer than 255 bytes are rejected")
    func longNames() throws {
        let label = [63] + [UInt8](repeating: 0x61, count: 63)
        #expect(try read(label + label + label + [61] + [UInt8](repeating: 0x61, count: 61) + [0])?.count == 1)
        #expect(try read(label + label + label + [62] + [UInt8](repeating: 0x61, count: 62) + [0]) == nil)
    }

    @Test("A chain of more than 16 pointers is rejected")
    func chain() throws {
        // Each name is a letter and a pointer to the previous name.
        func chain(_ count: Int) -> [UInt8] {
            var data: [UInt8] = [1, 0x61, 0]
            for index in 0..<count { data += [1, 0x62, 0xC0, index == 0 ? 0 : UInt8(3 + 4 * (index - 1))] }
            return data
        }
        #expect(try read(chain(16))?.count == 17)
        #expect(try read(chain(17)) == nil)
    }

    @Test("At most 32 domains are decoded")
    func limit() throws {
        let data = (0..<40).flatMap { _ in [1, 0x61, 0] as [UInt8] }
        #expect(try read(data)?.count == 32)
    }
}

@Suite("Classless routes")
struct ClasslessRouteTests {
    private func read(_ data: [UInt8]) throws -> [ClasslessRoute]? {
        try DHCPMessage(decoding: dhcpBytes(options: [121, UInt8(data.count)] + data)).options.staticRoutes
    }

    @Test("A route contains only the bytes of the destination that its prefix covers (table of RFC 3442)")
    func table() throws {
        let router: [UInt8] = [10, 0, 0, 1]
        let cases: [([UInt8], IPv4Address, UInt8)] = [
            ([0], IPv4Address(0, 0, 0, 0), 0), ([8, 10], IPv4Address(10, 0, 0, 0), 8),
            ([24, 10, 0, 0], IPv4Address(10, 0, 0, 0), 24), ([16, 10, 17], IPv4Address(10, 17, 0, 0), 16),
            ([24, 10, 27, 129], IPv4Address(10, 27, 129, 0), 24),
            ([25, 10, 229, 0, 128], IPv4Address(10, 229, 0, 128), 25),
            ([32, 10, 198, 122, 47], IPv4Address(10, 198, 122, 47), 32),
        ]
        for (bytes, destination, length) in cases {
            let routes = try read(bytes + router)
            #expect(routes?.count == 1)
            #expect(routes?.first?.destination == destination)
            #expect(routes?.first?.prefixLength == length)
            #expect(routes?.first?.router == IPv4Address(10, 0, 0, 1))
        }
        #expect(try read(cases.flatMap { $0.0 + router })?.count == 7)
    }

    @Test("Destination bits after the prefix are cleared")
    func hostBits() throws {
        #expect(try read([20, 10, 1, 0xFF, 10, 0, 0, 1])?.first?.destination == IPv4Address(10, 1, 0xF0, 0))
    }

    @Test("A truncated route or a prefix longer than 32 bits invalidates the option")
    func malformed() throws {
        let good: [UInt8] = [16, 10, 17, 10, 0, 0, 1]
        for count in 1..<good.count { #expect(try read(Array(good.prefix(count))) == nil) }
        #expect(try read(good + [16]) == nil)
        #expect(try read([33, 1, 2, 3, 4, 5, 10, 0, 0, 1]) == nil)
    }
}
