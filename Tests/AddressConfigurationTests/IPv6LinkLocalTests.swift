import DNSWire
import ProtocolCore
import Testing

@testable import AddressConfiguration

private let secret = [UInt8](1...16)
private func at(_ seconds: Double) -> Instant { .zero + .milliseconds(Int64(seconds * 1000)) }
private func ours(_ attempt: UInt8) -> IPv6Address {
    IPv6StableIdentifier.linkLocalAddress(interface: "eth0", attempt: attempt, secret: secret)
}
private let kernels = IPv6Address(high: 0xFE80_0000_0000_0000, low: 0x0211_22FF_FE33_4455)

@Suite("Stable identifiers of RFC 7217")
struct IPv6StableIdentifierTests {
    @Test("An address is stable and differs per interface, attempt and secret")
    func inputs() {
        let address = ours(0)
        #expect(address == ours(0))
        #expect(address.high == 0xFE80_0000_0000_0000)
        let others = [
            ours(1), IPv6StableIdentifier.linkLocalAddress(interface: "eth1", attempt: 0, secret: secret),
            IPv6StableIdentifier.linkLocalAddress(interface: "eth0", attempt: 0, secret: [UInt8](2...17)),
        ]
        #expect(Set(others + [address]).count == 4)
    }

    @Test("An address is the same in every version of the firmware")
    func pinned() {
        // SHA-256 of 08 fe80000000000000, 04 "eth0", 00, 01 00, 10 0102…10; its last eight bytes, computed with
        // sha256sum.
        #expect(ours(0).low == 0x75C6_7713_0468_E74A)
    }

    @Test("The identifiers of RFC 5453 are reserved")
    func reserved() {
        for identifier: UInt64 in [
            0, 0x0200_5EFF_FE00_0000, 0x0200_5EFF_FE00_5213, 0xFDFF_FFFF_FFFF_FF80, 0xFDFF_FFFF_FFFF_FFFF,
        ] { #expect(IPv6StableIdentifier.isReserved(identifier)) }
        for identifier: UInt64 in [1, 0x0200_5EFF_FE00_5214, 0xFDFF_FFFF_FFFF_FF7F] {
            #expect(!IPv6StableIdentifier.isReserved(identifier))
        }
    }
}

@Suite("The link-local IPv6 address of an interface")
struct IPv6LinkLocalClaimTests {
    var claim = IPv6LinkLocalClaim(interface: "eth0", secret: secret)

    @Test("The constants match section 7 of RFC 7217")
    func constants() {
        #expect(IPv6LinkLocalClaim.retries == 3)
        #expect(IPv6LinkLocalClaim.rest == .seconds(3600))
    }

    @Test("An address that the kernel created is kept") mutating func kernelsOwn() {
        #expect(claim.handle(.linkUp(.makesOne), now: at(0)) == [])
        #expect(claim.handle(.addresses([kernels: .tentative]), now: at(0.1)) == [])
        #expect(claim.handle(.addresses([kernels: .usable]), now: at(1.5)) == [])
        #expect(claim.nextDeadline == nil)
    }

    @Test("If the kernel creates no address, the plug adds one at once") mutating func kernelMakesNone() {
        #expect(claim.handle(.linkUp(.makesNone), now: at(0)) == [.assign(ours(0))])
        #expect(claim.handle(.addresses([ours(0): .tentative]), now: at(0.1)) == [])
        #expect(claim.handle(.addresses([ours(0): .usable]), now: at(1.5)) == [])
        #expect(claim.nextDeadline == nil)
        // A different cable was plugged in. The address is still present.
        #expect(claim.handle(.linkDown, now: at(2)) == [])
        #expect(claim.handle(.linkUp(.makesNone), now: at(3)) == [])
    }

    @Test("Disabled IPv6 is enabled, and the plug adds an address if the kernel creates none")
    mutating func disabled() {
        #expect(claim.handle(.linkUp(.disabled), now: at(0)) == [.enable])
        #expect(claim.nextDeadline == at(5))
        #expect(claim.handle(.deadlineReached, now: at(5)) == [.assign(ours(0))])
    }

    @Test("Duplicates are reported and replaced; the fourth address of the plug is replaced only after an hour")
    mutating func duplicates() {
        _ = claim.handle(.linkUp(.makesOne), now: at(0))
        #expect(
            claim.handle(.addresses([kernels: .duplicate]), now: at(1))
                == [.duplicate(kernels, next: nil), .remove(kernels), .assign(ours(0))])
        for attempt: UInt8 in 0..<3 {
            #expect(claim.handle(.addresses([ours(attempt): .tentative]), now: at(2)) == [])
            #expect(
                claim.handle(.addresses([ours(attempt): .duplicate]), now: at(3)) == [
                    .duplicate(ours(attempt), next: nil), .remove(ours(attempt)), .assign(ours(attempt + 1)),
                ])
        }
        #expect(
            claim.handle(.addresses([ours(3): .duplicate]), now: at(10))
                == [.duplicate(ours(3), next: .seconds(3600)), .remove(ours(3))])
        #expect(claim.handle(.addresses([:]), now: at(10)) == [])
        #expect(claim.nextDeadline == at(3610))
        #expect(claim.handle(.deadlineReached, now: at(3610)) == [.assign(ours(0))])
    }

    @Test("A duplicate next to a usable address is removed and not replaced") mutating func duplicateBeside() {
        _ = claim.handle(.linkUp(.makesOne), now: at(0))
        #expect(
            claim.handle(.addresses([kernels: .usable, ours(0): .duplicate]), now: at(1))
                == [.duplicate(ours(0), next: nil), .remove(ours(0))])
        #expect(claim.nextDeadline == nil)
    }

    @Test("A removed address is added again") mutating func takenAway() {
        _ = claim.handle(.linkUp(.makesOne), now: at(0))
        _ = claim.handle(.addresses([kernels: .usable]), now: at(1))
        #expect(claim.handle(.addresses([:]), now: at(20)) == [])
        #expect(claim.handle(.deadlineReached, now: at(25)) == [.assign(ours(0))])
    }

    @Test("A failed addition is retried, but not without a link") mutating func retry() {
        #expect(claim.handle(.linkUp(.makesNone), now: at(0)) == [.assign(ours(0))])
        #expect(claim.handle(.deadlineReached, now: at(4)) == [])
        #expect(claim.handle(.deadlineReached, now: at(5)) == [.assign(ours(0))])
        #expect(claim.handle(.linkDown, now: at(6)) == [])
        #expect(claim.nextDeadline == nil)
        #expect(claim.handle(.addresses([kernels: .duplicate]), now: at(7)) == [])
    }
}
