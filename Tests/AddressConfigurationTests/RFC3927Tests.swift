import AddressConfiguration
import DNSWire
import Testing

@Suite("Constants of RFC 3927")
struct RFC3927Tests {
    @Test("The constants match section 9")
    func constants() {
        #expect(RFC3927.probeWait == .seconds(1))
        #expect(RFC3927.probeCount == 3)
        #expect(RFC3927.probeGap == .seconds(1)...(.seconds(2)))
        #expect(RFC3927.announceWait == .seconds(2))
        #expect(RFC3927.announceCount == 2)
        #expect(RFC3927.announceInterval == .seconds(2))
        #expect(RFC3927.maximumConflicts == 10)
        #expect(RFC3927.rateLimitInterval == .seconds(60))
        #expect(RFC3927.defendInterval == .seconds(10))
        #expect(RFC3927.prefix == IPv4Address(169, 254, 0, 0) && RFC3927.prefixLength == 16)
        #expect(RFC3927.first == IPv4Address(169, 254, 1, 0))
        #expect(RFC3927.last == IPv4Address(169, 254, 254, 255))
    }
}
