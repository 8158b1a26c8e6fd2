import AddressConfiguration
import DNSWire
import ProtocolCore

/// Runs one interface in virtual time and logs its actions with their times.
struct Bench {
    static let mine = MACAddress(2, 0, 0, 0, 0, 1)
    static let other = MACAddress(2, 0, 0, 0, 0, 2)

    private(set) var machine: InterfaceAddressing
    private(set) var now: Instant
    private(set) var log: [(time: Instant, action: AddressingAction)] = []
    /// The state of the interface after the actions.
    private(set) var assigned: [IPv4Address: AssignedAddress] = [:]
    private(set) var routes: [Route] = []
    private(set) var kernelAnswersARP: Bool?
    /// The DHCP server, which answers at once, or nil.
    var server: TestServer?
    /// True if a host answers every probe.
    var isDenied = false
    /// True if the kernel rejects every address.
    var refuses = false
    /// The event in progress, and the events that its actions caused, which are handled after all of its actions.
    private var pending: [AddressingEvent] = []
    /// The maximum number of deadlines in one run. More deadlines mean an endless loop.
    private static let patience = 10_000

    init(
        fixed: FixedAddress? = nil, remembered: RememberedAddresses = RememberedAddresses(),
        inherited: Set<IPv4Address> = [],
        isPowerOn: Bool = false, seed: UInt64 = 1, now: Duration = .seconds(1000)
    ) {
        self.now = .zero + now
        for address in inherited {
            assigned[address] = AssignedAddress(
                address: address, prefixLength: 16, broadcast: .broadcast, scope: .link)
        }
        machine = InterfaceAddressing(
            configuration: InterfaceAddressing.Configuration(
                hardwareAddress: Self.mine, hostName: "plug", clientIdentifier: [255, 0, 0, 0, 1, 0, 3, 0, 1],
                fixed: fixed, remembered: remembered, inherited: inherited, isPowerOn: isPowerOn, seed: seed))
    }

    /// Creates a bench with an announced link-local address and without a server.
    static func held(seed: UInt64 = 1) -> Bench {
        var bench = Bench(seed: seed)
        bench.send(.linkUp)
        bench.run(for: .seconds(20))
        bench.clear()
        return bench
    }

    /// Creates a bench with an announced lease.
    static func leased(by server: TestServer = TestServer()) -> Bench {
        var bench = Bench()
        bench.server = server
        bench.send(.linkUp)
        bench.run(for: .seconds(10))
        return bench
    }

    mutating func send(_ event: AddressingEvent) {
        pending.append(event)
        guard pending.count == 1 else { return }
        while let first = pending.first {
            for action in machine.handle(first, now: now) { perform(action) }
            pending.removeFirst()
        }
    }

    /// Delivers an ARP packet of a neighbour.
    mutating func hear(_ packet: ARPPacket) { send(.receivedARP(packet)) }

    private mutating func perform(_ action: AddressingAction) {
        log.append((now, action))
        switch action {
        case .assign(let address):
            guard !refuses else { return send(.assignmentFailed(address.address, reason: "EPERM")) }
            assigned[address.address] = address
            send(.assigned(address.address))
        case .remove(let address): assigned[address] = nil
        case .setRoutes(let routes): self.routes = routes
        case .kernelAnswersARP(let answers): kernelAnswersARP = answers
        case .broadcastDHCP(let message), .sendDHCP(let message, _, _):
            guard let reply = server?.answer(message) else { return }
            send(.receivedDHCP(reply, from: TestServer.address))
        case .sendARP(let packet):
            if isDenied, packet.isProbe { hear(.reply(to: packet, from: Self.other)) }
        case .handOn, .remember, .notice: break
        }
    }

    mutating func clear() { log = [] }

    mutating func run(for duration: Duration) {
        let end = now + duration
        for _ in 0..<Self.patience {
            guard let next = machine.nextDeadline, next <= end else {
                now = end
                return
            }
            now = max(now, next)
            send(.deadlineReached)
        }
        preconditionFailure("the machine requested \(Self.patience) calls within \(duration)")
    }

    var arp: [(time: Instant, packet: ARPPacket)] {
        log.compactMap { time, action in
            if case .sendARP(let packet) = action { (time, packet) } else { nil }
        }
    }

    /// The probed addresses in order. Consecutive probes for the same address count once.
    var probed: [IPv4Address] {
        arp.map(\.packet).filter(\.isProbe).map(\.targetAddress).reduce(into: []) { list, address in
            if list.last != address { list.append(address) }
        }
    }

    var notices: [AddressingNotice] {
        log.compactMap { if case .notice(let notice) = $0.action { notice } else { nil } }
    }

    var remembered: [RememberedAddresses] {
        log.compactMap { if case .remember(let memory) = $0.action { memory } else { nil } }
    }

    var handedOn: [NetworkServers?] {
        log.compactMap { if case .handOn(let servers) = $0.action { .some(servers) } else { nil } }
    }

    var linkLocal: IPv4Address? {
        assigned.keys.first { IPAddress.v4($0).isLinkLocal }
    }

    /// Returns the time of the first matching action.
    func time(where isIt: (AddressingAction) -> Bool) -> Instant? { log.first { isIt($0.action) }?.time }

    func index(where isIt: (AddressingAction) -> Bool) -> Int? { log.firstIndex { isIt($0.action) } }
}
