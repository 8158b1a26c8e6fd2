import AddressConfiguration
import Foundation
import ProtocolCore
import SimulatedLAN
import Testing

@Suite struct AddressingSimulationTests {
    struct Totals {
        var conflicts = 0
        var declines = 0
        var deprecations = 0
        var lostConnections = 0
        var leased = 0
        var linkLocal = 0
        var mostARP = 0
        var mostDHCP = 0
        var mostWrites = 0
        var peakARP = 0
        var peakDHCP = 0
    }

    /// Runs each seed's house through faults of the link, its servers and its hosts. Each plug probes an address before
    /// it uses it. It removes a link-local address in use only on a conflict or when new probes are required, and keeps
    /// the limits of packets and flash writes. After the faults every plug has a unique address. If a host denies every
    /// address, the plugs keep the rate limit instead.
    @Test("After faults of link, servers and hosts, every plug has a unique address")
    func everybodyGetsAnAddressOfItsOwn() throws {
        var totals = Totals()
        try SeedPlan(environment: ProcessInfo.processInfo.environment).run { (seed) throws(SimulationFailure) in
            do throws(SimulationFailure) {
                try run(seed, isTraced: false, &totals)
            } catch {
                var ignored = Totals()
                try run(seed, isTraced: true, &ignored)
                throw error
            }
        }
        // The faults took effect.
        #expect(totals.conflicts > 3 && totals.leased > 3 && totals.linkLocal > 3)
        print(totals)
    }

    private func run(_ seed: UInt64, isTraced: Bool, _ totals: inout Totals) throws(SimulationFailure) {
        var scenario = AddressingScenario(seed: seed, isTraced: isTraced)
        let house = scenario.house
        scenario.disturb()
        try house.run(until: AddressingScenario.disturbance)
        let disturbed = house.plugs.map(\.tally)
        try house.run(until: AddressingScenario.disturbance + AddressingScenario.quiet)
        try house.checkNobodyMadeAStorm()
        if scenario.isHopeless {
            try house.checkTheRateLimit(since: disturbed, AddressingScenario.quiet)
        } else {
            try house.checkEverybodyHasAnAddress()
        }
        try house.checkAddressesAreUnique()
        add(house, to: &totals)
    }

    private func add(_ house: AddressingHouse, to totals: inout Totals) {
        for (plug, state) in house.plugs.enumerated() {
            totals.conflicts += state.tally.conflicts
            totals.declines += state.tally.declines
            totals.deprecations += state.tally.deprecations
            totals.lostConnections += state.tally.removedUnderConnection
            totals.mostARP = max(totals.mostARP, state.tally.arp)
            totals.mostDHCP = max(totals.mostDHCP, state.tally.dhcp)
            totals.mostWrites = max(totals.mostWrites, state.tally.writes)
            guard let address = house.usable(plug) else { continue }
            if address.rawValue >> 16 == 0xA9FE { totals.linkLocal += 1 } else { totals.leased += 1 }
        }
        totals.peakARP = max(totals.peakARP, house.segment.arpPerSecond.values.max() ?? 0)
        totals.peakDHCP = max(totals.peakDHCP, house.segment.dhcpPerSecond.values.max() ?? 0)
    }
}
