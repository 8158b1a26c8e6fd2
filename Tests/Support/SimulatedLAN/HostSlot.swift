internal import ProtocolCore

/// A host with what the LAN knows about it.
struct HostSlot<Host: SimulatedHost> {
    enum Power: Hashable {
        case off
        /// The kernel runs, the process does not.
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
    /// What the kernel of a suspended host holds for its process.
    var held: [HostEvent<Host.Stimulus>] = []
    var deadline: Instant?
    /// Tells the deadline that counts from those scheduled before it.
    var deadlineToken: UInt64 = 0

    init(host: Host, name: String, random: SeededRandom) {
        self.host = host
        self.name = name
        self.random = random
    }

    func clock(_ now: Instant) -> Instant { .zero + (now - bootedAt) }
}

/// Where a host meets a link.
struct Interface {
    let host: HostID
    let link: LinkID
    let addresses: [IPAddress]
    /// What the host was told last.
    var reportedUp = false
}

/// A broadcast domain.
struct Link {
    var faults: LinkFaults
    var isUp = true
    /// Group of each host while the link is partitioned; nil while it is whole.
    var groups: [HostID: Int]?
    var interfaces: [InterfaceID] = []

    init(faults: LinkFaults) { self.faults = faults }

    /// Whether what one host sends now can reach the other.
    func joins(_ left: HostID, _ right: HostID) -> Bool {
        guard isUp else { return false }
        guard let groups else { return true }
        return groups[left] == groups[right]
    }
}
