import AddressConfiguration
import DNSWire
import ProtocolCore

extension FuzzTarget {
    /// Drives one interface with arbitrary events of neighbours, servers, cables and the kernel. The plug probes
    /// each address before it uses it, sends only while the link is up, and has an address after five quiet minutes, in
    /// which it sends fewer than 200 packets.
    static let addressing = FuzzTarget(
        name: "addressing",
        seeds: {
            let granted = [FuzzedInterface.Step.linkUp, .wait(5), .offer, .acknowledge, .wait(20)]
            let stolen = [FuzzedInterface.Step.linkUp, .wait(80), .claimed, .claimed, .wait(80), .asked, .connected]
            return [
                granted + [.claimed, .wait(3), .claimed, .wait(150)],
                stolen + [.offer, .acknowledge, .wait(20), .linkDown, .wait(10), .linkUp, .refuse, .wait(90)],
                granted + [.connected, .linkDown, .linkUp, .acknowledge, .wait(10), .newCard, .wait(90)],
                [.linkUp, .wait(10), .probed, .wait(90), .removed, .wait(90), .resumed, .restart, .linkUp, .wait(90)],
            ].map { $0.flatMap(\.bytes) }
        },
        check: { bytes in
            var interface = FuzzedInterface()
            for step in FuzzedInterface.Step.read(bytes) { try interface.take(step) }
            try interface.rest()
            return interface.wasUsable
        })
}

/// One interface in virtual time. The steps of neighbours and servers refer to the interface's last packets, so an
/// input need not guess addresses.
private struct FuzzedInterface {
    enum Step: Equatable {
        /// A time in tenths of a second.
        case wait(UInt8)
        case linkUp, linkDown, resumed, restart, newCard
        /// A neighbour announces, probes, or sends a request for the address that the plug last probed or announced.
        case claimed, probed, asked
        /// A server answers the last message.
        case offer, acknowledge, refuse
        /// Connections start on all addresses, or all end.
        case connected, disconnected
        /// The kernel removes an address.
        case removed
        /// An arbitrary packet or message.
        case arp([UInt8])
        case dhcp([UInt8])

        static let plain: [Step] = [
            .linkUp, .linkDown, .resumed, .restart, .newCard, .claimed, .probed, .asked, .offer, .acknowledge, .refuse,
            .connected, .disconnected, .removed,
        ]
        /// The maximum number of steps of one input, which limits its time.
        private static let limit = 200

        var bytes: [UInt8] {
            switch self {
            case .wait(let tenths): [128, tenths]
            case .arp(let packet): [192, UInt8(packet.count)] + packet
            case .dhcp(let message): [224, UInt8(message.count / 2)] + message
            case .linkUp, .linkDown, .resumed, .restart, .newCard, .claimed, .probed, .asked, .offer, .acknowledge,
                .refuse,
                .connected, .disconnected, .removed:
                [UInt8(Self.plain.firstIndex(of: self)!)]
            }
        }

        static func read(_ bytes: [UInt8]) -> [Step] {
            var steps: [Step] = []
            var rest = bytes[...]
            while steps.count < limit, let code = rest.popFirst() {
                switch code {
                case 128...191: steps.append(.wait(rest.popFirst() ?? 1))
                case 192...223:
                    let count = Int(rest.popFirst() ?? 0)
                    steps.append(.arp(Array(rest.prefix(count))))
                    rest = rest.dropFirst(count)
                case 224...255:
                    let count = 2 * Int(rest.popFirst() ?? 0)
                    steps.append(.dhcp(Array(rest.prefix(count))))
                    rest = rest.dropFirst(count)
                default: steps.append(plain[Int(code) % plain.count])
                }
            }
            return steps
        }
    }

    private static let card = MACAddress(2, 0, 0, 0, 0, 1)
    private static let other = MACAddress(2, 0, 0, 0, 0, 9)
    private static let server = IPv4Address(10, 0, 0, 1)

    private var hardware = card
    private var memory = RememberedAddresses()
    private var machine = InterfaceAddressing(configuration: configuration(card, RememberedAddresses(), [], 1))
    private var now = FuzzedPlug.now
    private var assigned: Set<IPv4Address> = []
    private var probes: [IPv4Address: Int] = [:]
    private var isLinkUp = false
    private var lastAddress = IPv4Address(169, 254, 1, 1)
    private var lastMessage: DHCPMessage?
    private var starts: UInt64 = 1
    private var sent = 0
    private var steps = 0
    private(set) var wasUsable = false

    private static func configuration(
        _ hardware: MACAddress, _ memory: RememberedAddresses, _ inherited: Set<IPv4Address>, _ seed: UInt64
    ) -> InterfaceAddressing.Configuration {
        // At every second start, the owner has chosen an address.
        let fixed = seed % 2 == 0 ? try? FixedAddress("10.0.0.9/24", router: "10.0.0.1", nameServers: []) : nil
        return InterfaceAddressing.Configuration(
            hardwareAddress: hardware, hostName: "plug", clientIdentifier: [255, 1, 2], fixed: fixed,
            remembered: memory, inherited: inherited, seed: seed)
    }

    mutating func take(_ step: Step) throws(FuzzFailure) {
        steps += 1
        switch step {
        case .wait(let tenths): try wait(.milliseconds(100 * Int(tenths)))
        case .linkUp, .linkDown: try setLink(step == .linkUp)
        case .resumed:
            probes = [:]
            try tell(.resumed)
        case .restart:
            starts += 1
            machine = InterfaceAddressing(configuration: Self.configuration(hardware, memory, assigned, starts))
            try setLink(isLinkUp)
        case .newCard:
            hardware = MACAddress(2, 0, 0, 0, 1, UInt8(truncatingIfNeeded: steps))
            probes = [:]
            try tell(.hardwareAddressChanged(hardware))
        case .claimed: try tell(.receivedARP(.announcement(of: lastAddress, from: Self.other)))
        case .probed: try tell(.receivedARP(.probe(for: lastAddress, from: Self.other)))
        case .asked:
            try tell(
                .receivedARP(
                    ARPPacket(
                        operation: .request, senderHardware: Self.other, senderAddress: Self.server,
                        targetHardware: .zero, targetAddress: lastAddress)))
        case .offer: try serve(.offer)
        case .acknowledge: try serve(.ack)
        case .refuse: try serve(.nak)
        case .connected: try tell(.inUse(assigned))
        case .disconnected: try tell(.inUse([]))
        case .removed:
            guard let address = assigned.min(by: { $0.rawValue < $1.rawValue }) else { return }
            assigned.remove(address)
            try tell(.assignmentFailed(address, reason: "removed"))
        case .arp(let bytes):
            guard let packet = try? ARPPacket(decoding: bytes) else { return }
            try tell(.receivedARP(packet))
        case .dhcp(let bytes):
            guard var message = try? DHCPMessage(decoding: bytes) else { return }
            message.transaction = lastMessage?.transaction ?? 0
            message.clientHardware = hardware
            try tell(.receivedDHCP(message, from: Self.server))
        }
    }

    /// Restores the link and waits for five minutes, which is longer than every back-off and rate limit. Then the plug
    /// must have an address.
    mutating func rest() throws(FuzzFailure) {
        try take(.disconnected)
        try setLink(true)
        sent = 0
        try wait(.seconds(300))
        // No neighbour or server acted in these five minutes, so the packets are those of an undisturbed plug.
        try require(sent < 200, "\(sent) packets in five quiet minutes")
        let status = machine.status
        switch status.dhcp {
        case .leased, .fixed: break
        case .off, .searching:
            guard case .held(let address) = status.linkLocal else { throw FuzzFailure("no address: \(status)") }
            try require(assigned.contains(address), "\(address) is not assigned")
        }
    }

    private mutating func setLink(_ isUp: Bool) throws(FuzzFailure) {
        isLinkUp = isUp
        if isUp { probes = [:] }
        try tell(isUp ? .linkUp : .linkDown)
    }

    private mutating func wait(_ time: Duration) throws(FuzzFailure) {
        let end = now + time
        var calls = 0
        while let next = machine.nextDeadline, next <= end {
            calls += 1
            try require(calls < 2000, "the machine sets deadlines in a loop")
            now = max(now, next)
            try tell(.deadlineReached)
        }
        now = end
    }

    private mutating func serve(_ type: DHCPMessageType) throws(FuzzFailure) {
        guard let asked = lastMessage else { return }
        var options = DHCPOptions()
        options.messageType = type
        options.serverIdentifier = Self.server
        options.leaseTime = 60
        options.subnetMask = .mask(prefixLength: 24)
        options.routers = [Self.server]
        try tell(
            .receivedDHCP(
                DHCPMessage(
                    operation: .reply, transaction: asked.transaction,
                    yourAddress: asked.options.requestedAddress ?? IPv4Address(10, 0, 0, 9), clientHardware: hardware,
                    options: options), from: Self.server))
    }

    private mutating func tell(_ event: AddressingEvent) throws(FuzzFailure) {
        for action in machine.handle(event, now: now) { try perform(action) }
    }

    private mutating func perform(_ action: AddressingAction) throws(FuzzFailure) {
        switch action {
        case .sendARP(let packet):
            sent += 1
            try require(isLinkUp, "ARP is sent without a link")
            lastAddress = packet.isProbe ? packet.targetAddress : packet.senderAddress
            if packet.isProbe { probes[packet.targetAddress, default: 0] += 1 } else { try use(packet.senderAddress) }
        case .broadcastDHCP(let message), .sendDHCP(let message, _, _):
            sent += 1
            try require(isLinkUp, "DHCP is sent without a link")
            lastMessage = message
        case .assign(let address):
            assigned.insert(address.address)
            wasUsable = true
            try use(address.address)
        case .remove(let address):
            try require(assigned.remove(address) != nil, "\(address) is removed but was not assigned")
        case .setRoutes(let routes):
            for source in routes.compactMap(\.source) {
                try require(assigned.contains(source), "a route from \(source), which is not assigned")
            }
        case .remember(let memory): self.memory = memory
        case .kernelAnswersARP, .handOn, .notice: break
        }
    }

    private func use(_ address: IPv4Address) throws(FuzzFailure) {
        try require(assigned.contains(address), "\(address) is announced but not assigned")
        try require(probes[address, default: 0] >= 3, "\(address) is used after \(probes[address, default: 0]) probes")
    }
}
