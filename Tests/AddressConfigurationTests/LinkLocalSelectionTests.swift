import AddressConfiguration
import DNSWire
import ProtocolCore
import Testing

@Suite("Selection of a link-local address")
struct LinkLocalSelectionTests {
    private func selection(_ last: UInt8 = 1, remembered: IPv4Address? = nil) -> LinkLocalSelection {
        LinkLocalSelection(hardware: MACAddress(2, 0, 0, 0, 0, last), remembered: remembered)
    }

    /// Returns the addresses that are tried until `end`, with their times. Each address is usable immediately and has a
    /// conflict after `usableFor`. If `usableFor` is nil, each address has a conflict after 10 ms, before it is usable.
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

    @Test("A hardware address leads to the same sequence of addresses at each start")
    func aCardDrawsTheSameAddressesAtEachStart() {
        var (first, again, other) = (selection(1), selection(1), selection(2))
        let addresses = denied(&first, until: .seconds(300)).map(\.address)
        #expect(addresses.count > 10)
        #expect(denied(&again, until: .seconds(300)).map(\.address) == addresses)
        #expect(denied(&other, until: .seconds(300)).map(\.address) != addresses)
    }

    @Test("The drawn addresses cover the whole range and lie within it") func cardsDrawFromTheWholeRangeAndNotBeyond() {
        var drawn: Set<IPv4Address> = []
        for card in 0..<20_000 as Range<UInt64> {
            let hardware = MACAddress(bytes: (0..<6).map { UInt8(truncatingIfNeeded: card >> (40 - 8 * $0)) })!
            var selection = LinkLocalSelection(hardware: hardware, remembered: nil)
            guard case .claim(let address) = selection.choose(now: .zero) else { continue }
            drawn.insert(address)
        }
        #expect(drawn.allSatisfy { ($0.rawValue >> 16) == 0xA9FE && (1...254).contains($0.bytes[2]) })
        // 20,000 uniform draws from 65,024 addresses hit 17,216 addresses on average, and seldom less than 17,066.
        #expect(drawn.count > 17_050)
        #expect(Set(drawn.map { $0.bytes[2] }).count == 254)
    }

    @Test("The remembered address is tried first, and the next one differs")
    func theRememberedAddressComesFirstAndTheNextIsAnother() {
        let remembered = IPv4Address(169, 254, 77, 77)
        var selection = selection(remembered: remembered)
        #expect(selection.choose(now: .zero) == .claim(remembered))
        #expect(selection.choose(now: .zero + .seconds(9)) == .claim(remembered))
        selection.conflict(usableSince: nil, now: .zero + .seconds(9))
        #expect(selection.choose(now: .zero + .seconds(9)) != .claim(remembered))
    }

    @Test(
        "A remembered address out of range is ignored",
        arguments: [
            IPv4Address(169, 254, 0, 200), IPv4Address(169, 254, 255, 1), IPv4Address(192, 168, 1, 1),
        ])
    func aRememberedAddressThatNobodyMayClaimIsNotTried(_ address: IPv4Address) {
        var (plain, spoilt) = (selection(), selection(remembered: address))
        #expect(spoilt.choose(now: .zero) == plain.choose(now: .zero))
    }

    @Test("No address is tried twice within an hour") func noAddressIsTriedTwice() {
        var selection = selection()
        let addresses = denied(&selection, until: .seconds(3600)).map(\.address)
        #expect(addresses.count > 60 && Set(addresses).count == addresses.count)
    }

    @Test("After ten conflicts, one new address per minute is tried")
    func afterTenConflictsANewAddressIsTriedOnceAMinute() {
        var selection = selection()
        let times = denied(&selection, until: .seconds(3600)).map(\.time)
        #expect(times.prefix(10).last! < .seconds(1))
        for (earlier, later) in zip(times.dropFirst(9), times.dropFirst(10)) {
            // The selection waits 60 s plus 1 s, the longest delay before the first probe of a claim.
            #expect((.seconds(61) ... .seconds(62)).contains(later - earlier))
        }
        #expect(times.count == 69)
    }

    @Test("A conflict on an address that was usable for only 30 seconds counts toward the limit")
    func addressesThatAreTakenRightAfterTheirClaimCountToo() {
        var selection = selection()
        let times = denied(&selection, until: .seconds(3600), usableFor: .seconds(30)).map(\.time)
        // Ten addresses are tried within the first five minutes, then one per minute.
        #expect(times.count <= 10 + 55)
    }

    @Test("A conflict on an address that was usable for a minute resets the count of conflicts")
    func theCountIsClearedByAnAddressThatWasKeptForAMinute() {
        var selection = selection()
        _ = denied(&selection, until: .seconds(300))
        #expect(selection.isLimited)
        selection.conflict(usableSince: .zero + .seconds(300), now: .zero + .seconds(359))
        #expect(selection.isLimited)
        selection.conflict(usableSince: .zero + .seconds(300), now: .zero + .seconds(360))
        #expect(!selection.isLimited && selection.conflicts == 1)
    }
}
