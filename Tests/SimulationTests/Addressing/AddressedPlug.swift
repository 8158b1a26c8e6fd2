import AddressConfiguration
import DNSWire
import ProtocolCore

/// The addressing part of a plug: the machine, its kernel, its flash, and the invariants that are checked at every
/// step. It is a class because each packet is offered to each plug, and copying the machine would cost more than
/// handling the packet.
final class AddressedPlug {
    private(set) var hardware: MACAddress
    private(set) var machine: InterfaceAddressing
    /// False while the plug has no power or no process.
    private(set) var isRunning = false
    private(set) var assigned: [IPv4Address: AssignedAddress] = [:]
    private(set) var kernelAnswersARP = true
    /// The addresses in flash.
    private(set) var memory: RememberedAddresses
    private(set) var inUse: Set<IPv4Address> = []
    private(set) var isLinkUp = false
    /// The time of the next wake-up that the house has scheduled.
    var wake: Instant?
    /// The last violated invariant, or nil.
    private(set) var violation: String?
    /// The number of probes per address since the last link up, resume, restart of the process or new hardware
    /// address.
    private var probes: [IPv4Address: Int] = [:]
    private var lastDoubt = Instant.zero
    private(set) var tally = Tally()
    private var starts: UInt64 = 0
    private let seed: UInt64

    struct Tally {
        var arp = 0
        var dhcp = 0
        var declines = 0
        var writes = 0
        var conflicts = 0
        /// First probes of link-local addresses. An address counts again after `probes` was cleared.
        var tried = 0
        var deprecations = 0
        var removedUnderConnection = 0
    }

    init(hardware: MACAddress, memory: RememberedAddresses, seed: UInt64) {
        self.hardware = hardware
        self.memory = memory
        self.seed = seed
        machine = Self.machine(hardware, memory, inherited: [], isPowerOn: true, seed: seed)
    }

    // MARK: Faults and packets

    func powerOn() { start(isPowerOn: true) }

    func powerCut() {
        isRunning = false
        assigned = [:]
        inUse = []
        kernelAnswersARP = true
        isLinkUp = false
    }

    /// Ends the process; the kernel keeps its addresses.
    func kill() { isRunning = false }

    func restart(now: Instant) {
        start(isPowerOn: false)
        doubt(now: now)
    }

    private func start(isPowerOn: Bool) {
        starts += 1
        machine = Self.machine(
            hardware, memory, inherited: Set(assigned.keys), isPowerOn: isPowerOn, seed: seed &+ starts)
        isRunning = true
    }

    private static func machine(
        _ hardware: MACAddress, _ memory: RememberedAddresses, inherited: Set<IPv4Address>, isPowerOn: Bool,
        seed: UInt64
    ) -> InterfaceAddressing {
        InterfaceAddressing(
            configuration: InterfaceAddressing.Configuration(
                hardwareAddress: hardware, hostName: "plug",
                clientIdentifier: [255] + IPv4Address(rawValue: UInt32(truncatingIfNeeded: seed >> 8)).bytes,
                remembered: memory, inherited: inherited, isPowerOn: isPowerOn, seed: seed))
    }

    private func doubt(now: Instant) {
        probes = [:]
        lastDoubt = now
    }

    func setLink(_ isUp: Bool, now: Instant) -> [LinkFrame] {
        isLinkUp = isUp
        if isUp { doubt(now: now) }
        return tell(isUp ? .linkUp : .linkDown, now: now)
    }

    func resume(now: Instant) -> [LinkFrame] {
        doubt(now: now)
        return tell(.resumed, now: now)
    }

    func change(hardware: MACAddress, now: Instant) -> [LinkFrame] {
        self.hardware = hardware
        doubt(now: now)
        return tell(.hardwareAddressChanged(hardware), now: now)
    }

    /// Marks all assigned addresses as used by connections. If `isConnected` is false, marks all addresses as unused.
    func connect(_ isConnected: Bool, now: Instant) -> [LinkFrame] {
        inUse = isConnected ? Set(assigned.keys) : []
        return tell(.inUse(inUse), now: now)
    }

    /// Returns true if the machine or the kernel handles the packet. Most packets are about other stations.
    func isConcerned(by packet: ARPPacket) -> Bool {
        isLinkUp && (isRunning && machine.concerns(packet) || assigned[packet.targetAddress] != nil)
    }

    /// Handles a packet of the link: the kernel answers if it is allowed to, then the machine receives the packet.
    func hear(_ packet: ARPPacket, now: Instant) -> [LinkFrame] {
        var frames: [LinkFrame] = []
        if kernelAnswersARP, packet.operation == .request, packet.senderHardware != hardware,
            let own = assigned[packet.targetAddress]
        {
            if own.scope == .link { violation = "the kernel answers for link-local \(own.address) by unicast" }
            if isRunning { checkVerified(own.address, "the kernel answers for") }
            frames.append(.arp(.reply(to: packet, from: hardware)))
        }
        return frames + tell(.receivedARP(packet), now: now)
    }

    // MARK: Actions

    func tell(_ event: AddressingEvent, now: Instant) -> [LinkFrame] {
        guard isRunning else { return [] }
        let actions = machine.handle(event, now: now)
        guard !actions.isEmpty else { return [] }
        var frames: [LinkFrame] = []
        for action in actions { perform(action, &frames) }
        for case .remove(let address) in actions where inUse.remove(address) != nil {
            checkRemoval(of: address, actions, now: now)
        }
        return frames
    }

    private func perform(_ action: AddressingAction, _ frames: inout [LinkFrame]) {
        switch action {
        case .sendARP(let packet):
            tally.arp += 1
            check(packet)
            frames.append(.arp(packet))
        case .broadcastDHCP(let message):
            tally.dhcp += 1
            if message.options.messageType == .decline { tally.declines += 1 }
            if !isLinkUp { violation = "the plug sends without a link" }
            frames.append(.dhcp(message, to: nil))
        case .sendDHCP(let message, let source, let server):
            tally.dhcp += 1
            if assigned[source] == nil { violation = "the plug renews from \(source), which is not assigned" }
            frames.append(.dhcp(message, to: server))
        case .assign(let address):
            checkVerified(address.address, "the plug assigns")
            if !address.isPreferred { tally.deprecations += 1 }
            assigned[address.address] = address
        case .remove(let address):
            if assigned.removeValue(forKey: address) == nil { violation = "the plug removes an unassigned address" }
        case .setRoutes(let routes):
            for source in routes.compactMap(\.source) where assigned[source] == nil {
                violation = "a route has the source \(source), which is not assigned"
            }
        case .kernelAnswersARP(let answers): kernelAnswersARP = answers
        case .remember(let memory):
            tally.writes += 1
            self.memory = memory
        case .notice(.conflict), .notice(.defended): tally.conflicts += 1
        case .handOn, .notice: break
        }
    }

    private func check(_ packet: ARPPacket) {
        if !isLinkUp { violation = "the plug sends without a link" }
        guard packet.isProbe else {
            if assigned[packet.senderAddress] == nil {
                violation = "the plug announces \(packet.senderAddress), which is not assigned"
            }
            return checkVerified(packet.senderAddress, "the plug announces")
        }
        let count = probes[packet.targetAddress, default: 0]
        probes[packet.targetAddress] = count + 1
        if count == 0, IPAddress.v4(packet.targetAddress).isLinkLocal { tally.tried += 1 }
    }

    private func checkVerified(_ address: IPv4Address, _ use: String) {
        guard probes[address, default: 0] >= RFC3927.probeCount else {
            violation = "\(use) \(address) after \(probes[address, default: 0]) probes"
            return
        }
    }

    /// Checks that a link-local address in use is removed only on a conflict, or within 11 s after the last event that
    /// requires new probes: link up, resume, restart or a new hardware address.
    private func checkRemoval(of address: IPv4Address, _ actions: [AddressingAction], now: Instant) {
        tally.removedUnderConnection += 1
        guard IPAddress.v4(address).isLinkLocal else { return }
        let isTaken = actions.contains { action in
            if case .notice(.conflict(address, with: _)) = action { true } else { false }
        }
        if !isTaken, now - lastDoubt > .seconds(11) { violation = "\(address) is removed during a connection" }
    }

    /// Returns the ARP request that the kernel sends before a program's packet from one of the plug's addresses.
    /// Returns nil if the link is down or no address is assigned.
    func question(for target: IPv4Address, _ random: inout SeededRandom) -> ARPPacket? {
        let own = assigned.keys.sorted { $0.rawValue < $1.rawValue }
        guard isLinkUp, let source = own.randomElement(using: &random) else { return nil }
        return ARPPacket(
            operation: .request, senderHardware: hardware, senderAddress: source, targetHardware: .zero,
            targetAddress: target)
    }
}

/// A frame that the segment carries.
enum LinkFrame {
    case arp(ARPPacket)
    /// A DHCP message; `to` is nil for a broadcast, or the address to which the kernel routes it.
    case dhcp(DHCPMessage, to: IPv4Address?)
}
