import AddressService
import DNSWire
import LinuxNetwork
import LinuxSystem
import Logging
import MulticastDNS
import NIOCore
import ProtocolCore
import ServiceDiscovery
import SleepProxy

/// A link with its proxy: the shell of ``SleepProxy``. Confined to its event loop.
final class ProxiedLink: @unchecked Sendable {
    /// The calls to the outside.
    struct Outside {
        var metrics: SleepProxyName.Metrics
        var discovery: Discovery
        var files: SleeperFiles
        /// Sends an answer from the proxy's port.
        var answer: @Sendable (_ bytes: [UInt8], _ peer: Peer, _ interface: InterfaceID) -> Void
        /// Reports that the histories of ``ProxiedLink/report`` changed.
        var historiesChanged: @Sendable () -> Void
    }

    private let eventLoop: any EventLoop
    private let outside: Outside
    private let logger: Logger
    private var link: AddressedLink
    /// The link as the machine knows it.
    private var reported: ProxyLink?
    private var machine: SleepProxy
    private let actions = ActionQueue<SleepProxy.Action>()
    private var timer = DeadlineTimer()
    /// The generation of the reported histories.
    private var historyGeneration: UInt64 = 0
    /// The groups that the discovery publishes for this link.
    private var published: Set<GroupID> = []
    /// The socket for frames about sleeping hosts. It is always open, because a registration must not wait for it.
    /// Without such hosts its filter rejects every frame. Nil after the end.
    private var capture: PacketSocket?

    /// The rehearsal of a wake, once per process.
    private static let rehearsal = SleepProxy.rehearseWake()

    /// - Parameter histories: the histories of the proxy that served the link before it was lost.
    init(
        _ link: AddressedLink, _ outside: Outside, histories: [SleepHistory], on eventLoop: any EventLoop,
        logger: Logger
    ) {
        self.link = link
        self.outside = outside
        self.eventLoop = eventLoop
        var logger = logger
        logger[metadataKey: "interface"] = "\(link.name)"
        self.logger = logger
        machine = SleepProxy(
            random: SeededRandom(seed: .random(in: .min ... .max)), metrics: outside.metrics,
            stored: outside.files.read(link.name), histories: histories)
        capture = PacketSocket(
            .captured(Self.program([], [], link), groups: []), interface: link.interface, on: eventLoop,
            logger: logger
        ) { [weak self] in self?.handle(.frame($0)) }
    }

    private static func program(
        _ addresses: Set<IPAddress>, _ cards: Set<MACAddress>, _ link: AddressedLink
    ) -> CaptureProgram {
        CaptureProgram(
            CaptureProgram.Selection(addresses: addresses, cards: Set(cards.map(\.bytes))), interface: link.interface)
    }

    var name: String { link.name }
    var report: SleepProxyReport { machine.report }

    /// Starts to serve the link, or continues with its new addresses.
    func follow(_ link: AddressedLink) {
        self.link = link
        let current = ProxyLink(
            interface: UInt32(bitPattern: link.interface), hardware: link.hardware, addresses: link.addresses,
            infrastructure: link.infrastructure, names: outside.discovery.assumeIsolated { $0.registeredNames })
        guard current != reported else { return }
        reported = current
        capture?.openNow()
        handle(.linkChanged(current))
    }

    func registration(_ bytes: [UInt8], from peer: Peer) {
        handle(.registration(bytes, from: peer))
        _ = Self.rehearsal
    }

    func heard(_ message: InboundMessage) { handle(.heard(message)) }

    func conflicted(_ group: GroupID) { if let own = own(group) { handle(.conflicted(own)) } }

    func others(_ proxies: [SleepProxyName]) { handle(.proxies(proxies)) }

    /// Wakes all hosts, and ends.
    func disable() {
        handle(.disable)
        close()
    }

    /// Ends without a packet. The stored hosts are served again by the next plugd.
    func stop() {
        handle(.stop)
        // The end of the discovery would send goodbyes.
        for id in published { perform(.withdraw(id, goodbye: false)) }
        close()
    }

    private func close() {
        timer.stop()
        capture?.close()
        capture = nil
    }

    private func handle(_ event: SleepProxy.Event) {
        let now = BootClock.now
        actions.perform(machine.handle(event, now: now), by: perform)
        timer.follow(machine.nextDeadline, now: BootClock.now, on: eventLoop) { [weak self] in
            self?.handle(.deadlineReached)
        }
        guard machine.historyGeneration != historyGeneration else { return }
        historyGeneration = machine.historyGeneration
        outside.historiesChanged()
    }

    private func perform(_ action: SleepProxy.Action) {
        switch action {
        case .answer(let bytes, let peer): outside.answer(bytes, peer, UInt32(bitPattern: link.interface))
        case .send(let frame): capture?.send(frame)
        case .publish(let id, let group, let isVerified):
            var group = group
            group.requires = group.requires.map(shared)
            published.insert(id)
            outside.discovery.assumeIsolated { $0.publish(shared(id), group, isVerified: isVerified) }
        case .withdraw(let id, let goodbye):
            published.remove(id)
            outside.discovery.assumeIsolated { $0.withdraw(shared(id), goodbye: goodbye) }
        case .capture(let filter):
            capture?.capture(
                Self.program(filter.addresses, filter.cards, link),
                groups: Set(filter.addresses.compactMap(\.solicitedNodeGroup)))
        case .save(let stored): outside.files.write(stored, link.name)
        case .note(let note): log(note)
        }
    }

    // MARK: Groups

    /// The discovery has one space of ids for all links, and each machine has its own.
    private func shared(_ id: GroupID) -> GroupID {
        GroupID(rawValue: id.rawValue + UInt64(UInt32(bitPattern: link.interface)) << 40)
    }

    private func own(_ id: GroupID) -> GroupID? {
        let offset = UInt64(UInt32(bitPattern: link.interface)) << 40
        guard id.rawValue >> 40 == offset >> 40 else { return nil }
        return GroupID(rawValue: id.rawValue - offset)
    }

    private func log(_ note: SleepNote) { logger.log(level: note.level, "\(note.text)") }
}

extension IPAddress {
    /// The hardware address of the solicited-node multicast group (RFC 4291 §2.7.1, RFC 2464 §7); nil for IPv4.
    var solicitedNodeGroup: [UInt8]? {
        guard case .v6(let address) = self else { return nil }
        return [0x33, 0x33, 0xFF] + address.bytes.suffix(3)
    }
}
