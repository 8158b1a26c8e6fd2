import AddressConfiguration
import Testing

@Suite("Constants of RFC 2131")
struct RFC2131Tests {
    @Test("The constants match sections 3.1.5, 3.3, 4.1 and 4.4.5, except for the start delay of at most one second")
    func constants() {
        #expect(RFC2131.retransmissions == [.seconds(4), .seconds(8), .seconds(16), .seconds(32), .seconds(64)])
        #expect(RFC2131.jitter == .seconds(1))
        #expect(RFC2131.declineWait == .seconds(10))
        #expect(RFC2131.renewalShare == 0.5)
        #expect(RFC2131.rebindingShare == 0.875)
        #expect(RFC2131.leastRenewalRetry == .seconds(60))
        #expect(RFC2131.forEver == 0xFFFF_FFFF)
        #expect(RFC2131.startSpread == .zero...(.seconds(1)))
    }
}
