import LinkWire
import Testing

@Suite("The address of a network card")
struct MACAddressTests {
    @Test("is written as six pairs of hexadecimal digits")
    func text() {
        #expect("\(MACAddress(0, 1, 0xAB, 0x10, 0xFF, 9))" == "00:01:ab:10:ff:09")
    }

    @Test("keeps its six bytes in order")
    func bytes() {
        #expect(MACAddress(bytes: [1, 2, 3, 4, 5, 6])?.bytes == [1, 2, 3, 4, 5, 6])
        #expect(MACAddress(bytes: [1, 2, 3, 4, 5]) == nil)
    }
}
