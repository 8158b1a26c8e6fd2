import DNSWire
import Testing

struct NameTests {
    @Test("A name in presentation format is converted to labels, bytes and back")
    func textAndWireForm() throws {
        let name = try Name(presentation: "Living\\.Room \\092 Lamp._smartplug._tcp.local.")
        #expect(
            name.labels.map { String(decoding: $0, as: UTF8.self) } == [
                "Living.Room \\ Lamp", "_smartplug", "_tcp", "local",
            ])
        #expect(name.description == "Living\\.Room \\\\ Lamp._smartplug._tcp.local")
        #expect(Name("a.local").bytes == [1, 0x61, 5] + Array("local".utf8) + [0])
        #expect(Name.root.description == ".")
        #expect(try Name(presentation: ".") == .root)
        #expect(Name("a.b").parent == "b")
        #expect(Name.root.parent == nil)
    }

    @Test("A label with arbitrary bytes is unchanged after conversion to text and back")
    func anyBytesSurviveTheTextForm() throws {
        let label: [UInt8] = [0, 10, 0x2E, 0x5C, 0x7F, 0x80, 0xFF, 0x20, 0x41]
        let name = try Name(labels: [label])
        #expect(name.description == "\\000\\010\\.\\\\\\127\\128\\255 A")
        #expect(try Name(presentation: name.description).bytes == name.bytes)
        #expect(Name("Wohnzimmer-Lämpchen 💡.local").description == "Wohnzimmer-Lämpchen 💡.local")
    }

    @Test("The comparison of names ignores the case of ASCII letters only")
    func comparedWithoutCaseOfASCIIOnly() {
        #expect(Name("LAMP.Local") == Name("lamp.local"))
        #expect(Name("LAMP.Local").hashValue == Name("lamp.local").hashValue)
        #expect(Name("Ä.local") != Name("ä.local"))
        #expect(Name("[.local") != Name("{.local"))
        #expect(Name("ab.local") != Name("a.local"))
    }

    @Test("Names beyond the limits of RFC 1035 and malformed escapes are rejected")
    func limits() throws {
        #expect(Name.labelLimit == 63)
        #expect(Name.lengthLimit == 255)
        let longest = [UInt8](repeating: 0x61, count: 63)
        #expect(throws: NameError.labelTooLong(count: 64)) { try Name(labels: [longest + [0x61]]) }
        #expect(throws: NameError.emptyLabel) { try Name(presentation: "a..b") }
        let name = try Name(labels: [longest, longest, longest, longest.dropLast(2)])
        #expect(name.bytes.count == 255)
        #expect(throws: NameError.nameTooLong(count: 256)) {
            try Name(labels: [longest, longest, longest, longest.dropLast(1)])
        }
        #expect(throws: NameError.nameTooLong(count: 257)) { try name.prepending(label: [0x61]) }
        #expect(throws: NameError.badEscape(offset: 1)) { try Name(presentation: "a\\") }
        #expect(throws: NameError.badEscape(offset: 0)) { try Name(presentation: "\\256") }
        #expect(throws: NameError.badEscape(offset: 0)) { try Name(presentation: "\\12") }
    }
}

struct IPAddressTests {
    @Test(
        "Addresses are formatted as RFC 5952 requires",
        arguments: [
            ([192, 168, 1, 20], "192.168.1.20"),
            ([0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1], "fe80::1"),
            ([UInt8](repeating: 0, count: 16), "::"),
            ([UInt8](repeating: 0, count: 15) + [1], "::1"),
            ([0x20, 1, 0xD, 0xB8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1], "2001:db8:0:1::1"),
            ([0x20, 1, 0xD, 0xB8, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1], "2001:db8:0:1:1:1:1:1"),
            ([0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0], "1::1:0:0:1:0"),
        ] as [([UInt8], String)])
    func canonicalText(bytes: [UInt8], text: String) throws {
        let address = try #require(IPAddress(bytes: bytes))
        #expect(address.description == text)
        #expect(address.bytes == bytes)
    }

    @Test("Link-local and loopback addresses are recognized in both families")
    func kinds() {
        #expect(IPAddress(bytes: [1, 2, 3]) == nil)
        #expect(IPAddress.v4(169, 254, 3, 4).isLinkLocal)
        #expect(!IPAddress.v4(169, 253, 3, 4).isLinkLocal)
        #expect(IPAddress.v6(IPv6Address(high: 0xFEBF << 48, low: 1)).isLinkLocal)
        #expect(!IPAddress.v6(IPv6Address(high: 0xFEC0 << 48, low: 1)).isLinkLocal)
        #expect(IPAddress.v4(127, 0, 0, 1).isLoopback)
        #expect(IPAddress.v6(IPv6Address(high: 0, low: 1)).isLoopback)
    }
}
