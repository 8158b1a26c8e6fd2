import DNSWire
import Testing

@Suite("MAC addresses")
struct MACAddressTests {
    @Test("The text has six pairs of hexadecimal digits")
    func text() {
        #expect("\(MACAddress(0, 1, 0xAB, 0x10, 0xFF, 9))" == "00:01:ab:10:ff:09")
    }

    @Test("The six bytes keep their order")
    func bytes() {
        #expect(MACAddress(bytes: [1, 2, 3, 4, 5, 6])?.bytes == [1, 2, 3, 4, 5, 6])
        #expect(MACAddress(bytes: [1, 2, 3, 4, 5]) == nil)
    }
}
