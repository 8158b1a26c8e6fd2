internal import ProtocolCore

/// A host with its state in the LAN.
struct HostSlot<Host: SimulatedHost> {
    enum Power: Hashable {
        case off
        /// The kernel runs, but the process does not.
        case stopped
        case running
        case suspended
    }

    var host: Host
    let name: String
    var random: SeededRandom
    var power = Power.off
    var bootedAt = Instant.zero
    var boot: UInt64 = 0
    var wallClockOffset = Duration.zero
    var interfaces: [InterfaceID] = []
    /// Listening ports of the running process.
    var ports: Set<UInt16> = []
    /// The events that the kernel of a suspended host holds for its process.
    var held: [HostEvent<Host.Stimulus>] = []
    var deadline: Instant?
    /// Distinguishes the current deadline from previously scheduled ones.
    var deadlineToken: UInt64 = 0

    init(host: Host, name: String, random: SeededRandom) {
        self.host = host
        self.name = name
        self.random = random
    }

    func clock(_ now: Instant) -> Instant { .zero + (now - bootedAt) }
}

/// The connection of a host to a link.
struct Interface {
    let host: HostID
    let link: LinkID
    let addresses: [IPAddress]
    /// The last state that was reported to the host.
    var reportedUp = false
}

/// A broadcast domain.
struct Link {
    var faults: LinkFaults
    var isUp = true
    /// The group of each host while the link is partitioned; nil otherwise.
    var groups: [HostID: Int]?
    var interfaces: [InterfaceID] = []

    init(faults: LinkFaults) { self.faults = faults }

    /// Returns true if packets of one host currently reach the other.
    func joins(_ left: HostID, _ right: HostID) -> Bool {
        guard isUp else { return false }
        guard let groups else { return true }
        return groups[left] == groups[right]
    }
}
