import AddressConfiguration
import DNSWire
import ProtocolCore
import SimulatedLAN

/// Invariants that hold after a long enough quiet period.
extension AddressingHouse {
    /// Returns the address that a plug would announce: its lease, or else its link-local address. Returns nil if
    /// neither is assigned.
    func usable(_ plug: Int) -> IPv4Address? {
        let status = plugs[plug].machine.status
        if case .leased(let lease) = status.dhcp, plugs[plug].assigned[lease.address] != nil { return lease.address }
        guard case .held(let address) = status.linkLocal, plugs[plug].assigned[address] != nil else { return nil }
        return address
    }

    /// Requires an address on each plug. If the server of a lease is dead, the lease may have expired just before this
    /// check, so a plug without an address gets 12 s more to claim one.
    func checkEverybodyHasAnAddress() throws(SimulationFailure) {
        let without = plugs.indices.filter { usable($0) == nil }
        guard !without.isEmpty else { return }
        try run(until: now - .zero + .seconds(12))
        for plug in without where usable(plug) == nil {
            throw failure(
                "plug \(plug) has no address: \(plugs[plug].machine.status), assigned \(plugs[plug].assigned.keys)")
        }
    }

    func checkAddressesAreUnique() throws(SimulationFailure) {
        var owners: [IPv4Address: String] = [:]
        for (number, host) in hosts.enumerated() {
            if let address = host.address { owners[address] = "host \(number)" }
        }
        for server in servers { owners[server.address] = "a server" }
        for plug in plugs.indices {
            for address in plugs[plug].assigned.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
                if let other = owners.updateValue("plug \(plug)", forKey: address) {
                    throw failure("\(address) belongs to plug \(plug) and to \(other)")
                }
            }
        }
    }

    /// Checks that each plug kept the limits of flash writes, ARP packets and DHCP messages of a complete run.
    func checkNobodyMadeAStorm() throws(SimulationFailure) {
        for (plug, state) in plugs.enumerated() {
            let tally = state.tally
            guard tally.writes <= Self.writes else {
                throw failure("plug \(plug) wrote \(tally.writes) times to flash")
            }
            guard tally.arp <= Self.arp else { throw failure("plug \(plug) sent \(tally.arp) ARP packets") }
            guard tally.dhcp <= Self.dhcp else { throw failure("plug \(plug) sent \(tally.dhcp) DHCP messages") }
        }
    }

    /// Checks the rates when every claim fails: at most one address per minute is tried (RFC 3927 §2.2.1) and at most
    /// one lease per ten seconds is declined.
    func checkTheRateLimit(
        since before: [AddressedPlug.Tally], _ time: Duration
    ) throws(SimulationFailure) {
        let minutes = Int(time / RFC3927.rateLimitInterval)
        for (plug, state) in plugs.enumerated() {
            let tried = state.tally.tried - before[plug].tried
            // A plug whose link or process was down until `before` was taken may make ten tries before the limit
            // applies.
            guard tried <= minutes + RFC3927.maximumConflicts + 1 else {
                throw failure("plug \(plug) tried \(tried) addresses in \(minutes) minutes")
            }
            let declines = state.tally.declines - before[plug].declines
            guard declines <= 6 * minutes else { throw failure("plug \(plug) declined \(declines) leases") }
        }
    }

    /// The limits of a plug in a run of 750 s. They are about 1.5 times the highest numbers of 10,000 houses: 18
    /// writes, 129 ARP packets and 85 DHCP messages.
    static let writes = 27
    static let arp = 200
    static let dhcp = 130
}
