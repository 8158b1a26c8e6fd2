import AddressConfiguration
import DNSWire
import LinkWire
import ProtocolCore
import Testing

@Suite("Selection of a link-local address")
struct LinkLocalSelectionTests {
    private func selection(_ last: UInt8 = 1, remembered: IPv4Address? = nil) -> LinkLocalSelection {
        LinkLocalSelection(hardware: MACAddress(2, 0, 0, 0, 0, last), remembered: remembered)
    }

    /// The addresses that are tried when each is denied at once, and when each is drawn, until a time.
    private func denied(
        _ selection: inout LinkLocalSelection, from start: Instant = .zero, until end: Duration,
        usableFor: Duration? = nil
    ) -> [(address: IPv4Address, time: Duration)] {
        var tried: [(IPv4Address, Duration)] = []
        var now = start
        while now - .zero < end {
            switch selection.choose(now: now) {
            case .claim(let address):
                tried.append((address, now - .zero))
                let usableSince = usableFor.map { _ in now }
                now = now + (usableFor ?? .milliseconds(10))
                selection.conflict(usableSince: usableSince, now: now)
            case .wait(let until):
                #expect(until > now)
                now = until
            }
        }
        return tried
    }

    @Test func aCardDrawsTheSameAddressesAtEachStart() {
        var (first, again, other) = (selection(1), selection(1), selection(2))
        let addresses = denied(&first, until: .seconds(300)).map(\.address)
        #expect(addresses.count > 10)
        #expect(denied(&again, until: .seconds(300)).map(\.address) == addresses)
        #expect(denied(&other, until: .seconds(300)).map(\.address) != addresses)
    }

    @Test func cardsDrawFromTheWholeRangeAndNotBeyond() {
        var drawn: Set<IPv4Address> = []
        for card in 0..<20_000 as Range<UInt64> {
            let hardware = MACAddress(bytes: (0..<6).map { UInt8(truncatingIfNeeded: card >> (40 - 8 * $0)) })!
            var selection = LinkLocalSelection(hardware: hardware, remembered: nil)
            guard case .claim(let address) = selection.choose(now: .zero) else { continue }
            drawn.insert(address)
        }
        #expect(drawn.allSatisfy { ($0.rawValue >> 16) == 0xA9FE && (1...254).contains($0.bytes[2]) })
        // As many as 20,000 uniform draws from 65,024 hit: 17,216 on average, and hardly ever 150 fewer.
        #expect(drawn.count > 17_050)
        #expect(Set(drawn.map { $0.bytes[2] }).count == 254)
    }

    @Test func theRememberedAddressComesFirstAndTheNextIsAnother() {
        let remembered = IPv4Address(169, 254, 77, 77)
        var selection = selection(remembered: remembered)
        #expect(selection.choose(now: .zero) == .claim(remembered))
        #expect(selection.choose(now: .zero + .seconds(9)) == .claim(remembered))
        selection.conflict(usableSince: nil, now: .zero + .seconds(9))
        #expect(selection.choose(now: .zero + .seconds(9)) != .claim(remembered))
    }

    @Test(arguments: [
        IPv4Address(169, 254, 0, 200), IPv4Address(169, 254, 255, 1), IPv4Address(192, 168, 1, 1),
    ])
    func aRememberedAddressThatNobodyMayClaimIsNotTried(_ address: IPv4Address) {
        var (plain, spoilt) = (selection(), selection(remembered: address))
        #expect(spoilt.choose(now: .zero) == plain.choose(now: .zero))
    }

    @Test func noAddressIsTriedTwice() {
        var selection = selection()
        let addresses = denied(&selection, until: .seconds(3600)).map(\.address)
        #expect(addresses.count > 60 && Set(addresses).count == addresses.count)
    }

    @Test func afterTenConflictsANewAddressIsTriedOnceAMinute() {
        var selection = selection()
        let times = denied(&selection, until: .seconds(3600)).map(\.time)
        #expect(times.prefix(10).last! < .seconds(1))
        for (earlier, later) in zip(times.dropFirst(9), times.dropFirst(10)) {
            // A claim's first probe comes up to a second later, the next one's at once.
            #expect((.seconds(61) ... .seconds(62)).contains(later - earlier))
        }
        #expect(times.count == 69)
    }

    @Test func addressesThatAreTakenRightAfterTheirClaimCountToo() {
        var selection = selection()
        let times = denied(&selection, until: .seconds(3600), usableFor: .seconds(30)).map(\.time)
        // The first ten within five minutes, then one a minute.
        #expect(times.count <= 10 + 55)
    }

    @Test func theCountIsClearedByAnAddressThatWasKeptForAMinute() {
        var selection = selection()
        _ = denied(&selection, until: .seconds(300))
        #expect(selection.isLimited)
        selection.conflict(usableSince: .zero + .seconds(300), now: .zero + .seconds(359))
        #expect(selection.isLimited)
        selection.conflict(usableSince: .zero + .seconds(300), now: .zero + .seconds(360))
        #expect(!selection.isLimited && selection.conflicts == 1)
    }
}
