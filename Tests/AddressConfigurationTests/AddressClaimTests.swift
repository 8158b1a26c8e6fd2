import AddressConfiguration
import DNSWire
import ProtocolCore
import Testing

@Suite("Claim on an address")
struct AddressClaimTests {
    static let mine = MACAddress(2, 0, 0, 0, 0, 1)
    static let other = MACAddress(2, 0, 0, 0, 0, 2)
    static let address = IPv4Address(169, 254, 7, 7)
    static let probe = ARPPacket.probe(for: address, from: mine)
    static let announcement = ARPPacket.announcement(of: address, from: mine)
    /// The packets of a claim without a conflict.
    static let whole = [probe, probe, probe, announcement, announcement]

    /// The packets of a claim and the time at which its address became usable.
    struct Course {
        var sent: [(time: Duration, packet: ARPPacket)] = []
        var usable: Duration?
    }

    private func claim(_ timing: ClaimTiming = .linkLocal, seed: UInt64 = 1) -> AddressClaim {
        AddressClaim(Self.address, hardware: Self.mine, timing: timing, random: SeededRandom(seed: seed), now: .zero)
    }

    private func course(of claim: inout AddressClaim) -> Course {
        var course = Course()
        while let now = claim.nextDeadline {
            let outcome = claim.deadlineReached(now: now)
            course.sent += outcome.packets.map { (now - .zero, $0) }
            if outcome.result == .usable { course.usable = now - .zero }
        }
        return course
    }

    private func held() -> AddressClaim {
        var claim = claim()
        _ = course(of: &claim)
        return claim
    }

    @Test("A link-local address is usable after 4 to 7 seconds, 5.5 on average")
    func aLinkLocalAddressIsUsableAfterFourToSevenSecondsAndFiveAndAHalfOnAverage() {
        var times: [Double] = []
        for seed in 1...2000 as ClosedRange<UInt64> {
            var claim = claim(seed: seed)
            times.append(course(of: &claim).usable!.inSeconds)
        }
        #expect(times.allSatisfy { (4.0...7.0).contains($0) })
        #expect(abs(times.reduce(0, +) / 2000 - 5.5) < 0.1)
        // The times cover the whole range. Otherwise hosts that start together would probe together.
        #expect(times.min()! < 4.3 && times.max()! > 6.7)
    }

    @Test("Three probes and two announcements are sent at the times of RFC 3927")
    func threeProbesAndTwoAnnouncementsAreSentAtTheTimesOfTheRFC() throws {
        for seed in 1...100 as ClosedRange<UInt64> {
            var claim = claim(seed: seed)
            let course = course(of: &claim)
            #expect(course.sent.map(\.packet) == Self.whole)
            let times = course.sent.map(\.time)
            #expect((.zero ... .seconds(1)).contains(times[0]))
            #expect((.seconds(1) ... .seconds(2)).contains(times[1] - times[0]))
            #expect((.seconds(1) ... .seconds(2)).contains(times[2] - times[1]))
            #expect(times[3] - times[2] == .seconds(2) && times[4] - times[3] == .seconds(2))
            #expect(course.usable == times[3])
            #expect(claim.state == .held && claim.isUsable)
        }
    }

    @Test("A leased address is checked within 600 ms") func aLeasedAddressIsCheckedWithin600Milliseconds() {
        var claim = claim(.leased)
        let course = course(of: &claim)
        #expect(course.sent.map(\.time) == [0, 200, 400, 600, 2600].map { .milliseconds($0) })
        #expect(course.sent.map(\.packet) == Self.whole)
        #expect(course.usable == .milliseconds(600))
    }

    @Test("A late deadlineReached sends one probe, even if several were due")
    func aLateCallSendsOneProbeAndNotAllThatWereDue() {
        var claim = claim()
        #expect(claim.deadlineReached(now: .zero + .seconds(60)).packets == [Self.probe])
        #expect(claim.nextDeadline! >= .zero + .seconds(61))
        #expect(claim.deadlineReached(now: .zero + .seconds(60)).packets.isEmpty)
    }

    @Test(
        "A packet from a host that has or wants the address ends the probing",
        arguments: [
            ARPPacket.announcement(of: address, from: other),
            ARPPacket.reply(to: probe, from: other),
            ARPPacket.probe(for: address, from: other),
            ARPPacket(
                operation: .request, senderHardware: other, senderAddress: address, targetHardware: .zero,
                targetAddress: IPv4Address(192, 0, 2, 1)),
        ])
    func anybodyWhoHasOrWantsItEndsAProbe(_ packet: ARPPacket) {
        // The packet arrives in each phase of the probing: after 0 to 3 deadlines of the claim.
        for deadlines in 0...3 {
            var claim = claim()
            var now = Instant.zero
            for _ in 0..<deadlines {
                now = claim.nextDeadline!
                _ = claim.deadlineReached(now: now)
            }
            let outcome = claim.received(packet, now: now)
            #expect(outcome.result == .conflict(with: Self.other) && outcome.packets.isEmpty)
        }
    }

    @Test(
        "Other packets have no effect, neither during the probing nor later",
        arguments: [
            // An access point sends our own packets back.
            probe, announcement,
            // A host asks for the owner, or a packet is about a different address.
            ARPPacket(
                operation: .request, senderHardware: other, senderAddress: IPv4Address(169, 254, 9, 9),
                targetHardware: .zero, targetAddress: address),
            ARPPacket.probe(for: IPv4Address(169, 254, 9, 9), from: other),
            ARPPacket.announcement(of: IPv4Address(169, 254, 9, 9), from: other),
        ])
    func nothingElseDoes(_ packet: ARPPacket) {
        var claim = claim()
        #expect(claim.received(packet, now: .zero) == AddressClaim.Outcome())
        var held = held()
        #expect(held.received(packet, now: .zero + .seconds(100)) == AddressClaim.Outcome())
    }

    @Test("The first conflict is answered with one announcement") func theFirstConflictIsMetByOneAnnouncement() {
        var claim = held()
        let outcome = claim.received(.announcement(of: Self.address, from: Self.other), now: .zero + .seconds(100))
        #expect(outcome.packets == [Self.announcement] && outcome.result == .defended(against: Self.other))
    }

    @Test("A second conflict within ten seconds ends the claim") func aSecondConflictWithinTenSecondsEndsTheClaim() {
        var claim = held()
        let theirs = ARPPacket.announcement(of: Self.address, from: Self.other)
        _ = claim.received(theirs, now: .zero + .seconds(100))
        let outcome = claim.received(theirs, now: .zero + .milliseconds(109_999))
        #expect(outcome.packets.isEmpty && outcome.result == .conflict(with: Self.other))
    }

    @Test("A conflict ten seconds after the previous one counts as a first conflict")
    func aConflictAfterTenSecondsIsAFirstOneAgain() {
        var claim = held()
        let theirs = ARPPacket.announcement(of: Self.address, from: Self.other)
        for second in [100, 110, 120] {
            #expect(claim.received(theirs, now: .zero + .seconds(second)).result == .defended(against: Self.other))
        }
    }

    @Test("The address is already defended between its two announcements")
    func itIsDefendedBetweenTheAnnouncementsToo() {
        var claim = claim()
        for _ in 0..<4 { _ = claim.deadlineReached(now: claim.nextDeadline!) }
        #expect(claim.isUsable && claim.state != .held)
        let theirs = ARPPacket.announcement(of: Self.address, from: Self.other)
        #expect(claim.received(theirs, now: .zero + .seconds(8)).result == .defended(against: Self.other))
    }

    @Test("A probe for a held address is not a conflict") func aProbeForAHeldAddressIsNoConflict() {
        var claim = held()
        #expect(
            claim.received(.probe(for: Self.address, from: Self.other), now: .zero + .seconds(100))
                == AddressClaim.Outcome())
    }
}
