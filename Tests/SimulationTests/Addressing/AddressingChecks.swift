import AddressConfiguration
import DNSWire
import LinkWire
import ProtocolCore
import SimulatedLAN

/// What holds when all has been quiet for long enough.
extension AddressingHouse {
    /// The address that a plug would give to who asks for it.
    func usable(_ plug: Int) -> IPv4Address? {
        let status = plugs[plug].machine.status
        if case .leased(let lease) = status.dhcp, plugs[plug].assigned[lease.address] != nil { return lease.address }
        guard case .held(let address) = status.linkLocal, plugs[plug].assigned[address] != nil else { return nil }
        return address
    }

    /// A lease may end at any moment, when its server turns out to be dead; then there is another address some seconds later.
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
                    throw failure("\(address) is plug \(plug)'s and that of \(other)")
                }
            }
        }
    }

    /// What one plug may do in a run, however it is treated.
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

    /// Where every claim fails, one address a minute is tried (RFC 3927 §2.2.1) and one lease declined in ten seconds at most.
    func checkTheRateLimit(
        since before: [AddressedPlug.Tally], _ time: Duration
    ) throws(SimulationFailure) {
        let minutes = Int(time / RFC3927.rateLimitInterval)
        for (plug, state) in plugs.enumerated() {
            let tried = state.tally.tried - before[plug].tried
            // A plug that was without a link or a process until the end begins with ten.
            guard tried <= minutes + RFC3927.maximumConflicts + 1 else {
                throw failure("plug \(plug) tried \(tried) addresses in \(minutes) minutes")
            }
            let declines = state.tally.declines - before[plug].declines
            guard declines <= 6 * minutes else { throw failure("plug \(plug) declined \(declines) leases") }
        }
    }

    /// In twelve minutes, half as much again as the worst plug of 10,000 houses: 18 writes, 129 ARP packets, 85 DHCP messages.
    static let writes = 27
    static let arp = 200
    static let dhcp = 130
}
