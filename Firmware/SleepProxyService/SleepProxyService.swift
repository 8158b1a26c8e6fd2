public import AddressService
import DNSWire
public import JSONText
public import LinuxNetwork
import LinuxSystem
public import Logging
import MulticastDNS
public import NIOCore
public import PlugModel
import ProtocolCore
import ServiceDiscovery
import SleepProxy

/// The sleep proxy of a plug: the shell of a ``SleepProxy`` for each of its links.
///
/// Hosts find the proxy by `_sleep-proxy._udp` and register at its UDP port. A packet socket receives the frames that
/// concern sleeping hosts. Everything runs on one event loop.
public actor SleepProxyService {
    /// The executor of the event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    /// The settings of a sleep proxy.
    public struct Settings: Sendable {
        /// True to serve all links, false to serve none, nil to serve the links whose addresses the plug manages.
        public var isEnabled: Bool?
        /// The name of the plug, which is a part of the proxy's name.
        public var name: String
        /// The first label of the plug's host name.
        public var hostName: String
        /// The directory of the files with the sleeping hosts, which survive a restart of plugd but not of the board.
        public var directory: String

        /// Creates settings.
        public init(isEnabled: Bool?, name: String, hostName: String, directory: String) {
            self.isEnabled = isEnabled
            self.name = name
            self.hostName = hostName
            self.directory = directory
        }
    }

    /// The metrics of a plug: a device that is always on and at a fixed place, and that needs about a watt.
    private static let metrics = SleepProxyName.Metrics(
        type: 30, portability: 20, marginalPower: 10, totalPower: 30)

    /// The interval after which a registration makes the proxy read the links again. Their routers may have changed, and
    /// a flood of registrations must not cause a read each.
    private static let refreshInterval = Duration.seconds(1)

    private let settings: Settings
    private let currentLinks: @Sendable () -> [AddressedLink]
    private let sleepersChanged: @Sendable ([PlugSleeper]) -> Void
    private let eventLoop: any EventLoop
    private let discovery: Discovery
    private let logger: Logger
    private let files: SleeperFiles
    private var links: [Int32: ProxiedLink] = [:]
    /// The links of the last update, also those that are not served, and the time of that update.
    private var known: [AddressedLink] = []
    private var lastUpdate = Instant.zero
    private var port: DatagramPort?
    /// The announcement; nil while no link is served.
    private var registration: Registration?
    /// The announced name, which may have a number.
    private var announcedName: String?
    /// The other proxies, each on its link.
    private var others: [ServiceIdentity: SleepProxyName] = [:]
    private var browse: Task<Void, Never>?
    /// Follows the announced name.
    private var naming: Task<Void, Never>?
    /// The links on which the proxy is turned off and on which stored hosts were woken.
    private var cleared: Set<Int32> = []
    private var fault: String?
    /// The histories of lost links, by name. They continue when a link returns.
    private var histories: [String: [SleepHistory]] = [:]
    /// The last reported list.
    private var sleepers: [PlugSleeper] = []
    private var isStopped = false

    /// Creates a proxy that does not serve before ``start()``.
    ///
    /// - Parameters:
    ///   - links: returns the current links of the plug; called on the event loop.
    ///   - sleepersChanged: receives the hosts that sleep or have slept, at most ``PlugSleeper/limit``, after each
    ///     change; called on the event loop.
    public init(
        _ settings: Settings, _ discovery: Discovery, on eventLoop: any EventLoop, logger: Logger,
        links: @escaping @Sendable () -> [AddressedLink],
        sleepersChanged: @escaping @Sendable ([PlugSleeper]) -> Void
    ) {
        self.settings = settings
        currentLinks = links
        self.sleepersChanged = sleepersChanged
        self.discovery = discovery
        self.eventLoop = eventLoop
        self.logger = logger
        files = SleeperFiles(directory: settings.directory, logger: logger)
    }

    /// Opens the port and serves the links. A failure is logged and affects nothing else. If the proxy is turned off, the
    /// hosts that the previous plugd represented are woken instead.
    public func start() async {
        guard settings.isEnabled != false else { return update() }
        do {
            let port = try await DatagramPort.open(on: eventLoop) { [weak self] datagram in
                self?.assumeIsolated { $0.received(datagram) }
            }
            guard !isStopped else { return port.close() }
            self.port = port
        } catch {
            fault = "its port cannot be opened: \(errorText(error))"
            return logger.error("the sleep proxy stays off: \(errorText(error))")
        }
        await discovery.tellProxy { [weak self] report in self?.assumeIsolated { $0.handle(report) } }
        guard !isStopped else { return }
        update()
    }

    /// Serves the current links instead of the previous ones.
    public func update() {
        (known, lastUpdate) = (currentLinks(), BootClock.now)
        guard settings.isEnabled != false else { return clear() }
        guard port != nil, !isStopped else { return }
        let served = known.filter { $0.hasRawPackets && (settings.isEnabled == true || $0.refusal == nil) }
        for index in self.links.keys where !served.contains(where: { $0.interface == index }) {
            guard let lost = self.links.removeValue(forKey: index) else { continue }
            let past = lost.report.histories
            histories[lost.name] = past.isEmpty ? nil : past
            lost.stop()
        }
        for link in served {
            let proxied = self.links[link.interface] ?? open(link)
            self.links[link.interface] = proxied
            proxied.follow(link)
        }
        announce()
        followOthers()
    }

    /// Browses for other proxies while the proxy serves a link.
    private func followOthers() {
        guard !links.isEmpty else {
            browse?.cancel()
            (browse, others) = (nil, [:])
            return
        }
        guard browse == nil else { return }
        browse = Task {
            for await event in ServiceBrowser(SleepProxyName.serviceType, in: discovery) { note(event.change) }
        }
    }

    /// Wakes the stored hosts, because no proxy represents them any more.
    private func clear() {
        for link in known where link.hasRawPackets && !isStopped && cleared.insert(link.interface).inserted {
            guard files.read(link.name)?.isEmpty == false else { continue }
            let proxied = makeLink(link)
            proxied.follow(link)
            proxied.disable()
        }
    }

    private func open(_ link: AddressedLink) -> ProxiedLink {
        logger.info("serves sleeping hosts", metadata: ["interface": "\(link.name)"])
        let proxied = makeLink(link)
        proxied.others(others(on: link.interface))
        return proxied
    }

    private func makeLink(_ link: AddressedLink) -> ProxiedLink {
        let outside = ProxiedLink.Outside(
            metrics: Self.metrics, discovery: discovery, files: files,
            answer: { [weak self] bytes, peer, interface in
                self?.assumeIsolated { $0.port?.send(bytes, to: peer, interface: interface) }
            },
            historiesChanged: { [weak self] in self?.assumeIsolated { $0.reportSleepers() } })
        return ProxiedLink(
            link, outside, histories: histories.removeValue(forKey: link.name) ?? [], on: eventLoop, logger: logger)
    }

    /// Announces the proxy while it serves a link.
    private func announce() {
        guard !links.isEmpty, let port else {
            guard let registration else { return }
            (self.registration, announcedName) = (nil, nil)
            naming?.cancel()
            Task { await registration.cancel() }
            return
        }
        guard registration == nil else { return }
        do {
            let name = SleepProxyName(metrics: Self.metrics, name: settings.name)
            let service = try ServiceRegistration(
                name: "\(name)", type: SleepProxyName.serviceType, hostName: settings.hostName, port: port.port)
            let registration = try discovery.assumeIsolated { try $0.register(service) }
            self.registration = registration
            naming = Task { for await name in registration.names { announced(as: name) } }
        } catch {
            fault = "it cannot be announced: \(error)"
            logger.error("the sleep proxy cannot be announced: \(error)")
        }
    }

    private func announced(as name: String) {
        announcedName = name
        others = others.filter { $0.key.name != name }
    }

    private func others(on interface: Int32) -> [SleepProxyName] {
        others.filter { $0.key.interface == InterfaceID(bitPattern: interface) }.map(\.value)
    }

    /// Notes another proxy. The limit of the browse bounds their number.
    private func note(_ change: ServiceChange) {
        switch change {
        case .found(let identity, _), .changed(let identity, _):
            guard identity.name != announcedName, let name = SleepProxyName(identity.name) else { return }
            others[identity] = name
        case .lost(let identity): others[identity] = nil
        }
        for (interface, link) in links { link.others(others(on: interface)) }
    }

    private func received(_ datagram: InboundDatagram) {
        if BootClock.now - lastUpdate >= Self.refreshInterval { update() }
        guard !datagram.wasMulticast else { return }
        let peer = Peer(address: datagram.source, port: datagram.sourcePort)
        if let link = links[Int32(bitPattern: datagram.interface)] {
            link.registration(datagram.bytes, from: peer)
        } else if let registration = try? SleepRegistration(decoding: datagram.bytes) {
            // The proxy is announced on all links, also on those that it does not serve.
            let answer = SleepRegistrationAnswer(id: registration.id, code: .refused)
            port?.send(answer.encoded, to: peer, interface: datagram.interface)
        }
    }

    private func handle(_ report: ProxyReport) {
        switch report {
        case .heard(let message): links[Int32(bitPattern: message.interface)]?.heard(message)
        case .conflicted(let group): for link in links.values { link.conflicted(group) }
        }
    }

    /// Ends without sending a goodbye: the next process serves the stored hosts again.
    public func stop() {
        isStopped = true
        browse?.cancel()
        naming?.cancel()
        for link in links.values { link.stop() }
        links = [:]
        port?.close()
    }

    // MARK: Status

    /// The reports of the served links.
    private var reports: [SleepProxyReport] { links.sorted { $0.key < $1.key }.map(\.value.report) }

    /// Reports the sleepers of all links, also of lost ones, if they changed.
    private func reportSleepers() {
        let current = PlugSleeper.list(of: reports.flatMap(\.histories) + histories.values.joined())
        guard current != sleepers else { return }
        sleepers = current
        sleepersChanged(current)
    }

    /// The value of `sleep_proxy` in `plugd status`: `enabled` with the `name`, the `sleepers` and the `refusals`, or
    /// with the `reason`.
    public var status: JSONObject {
        var status = JSONObject()
        status.add("enabled", !links.isEmpty)
        if let reason { status.add("reason", reason) }
        if let announcedName { status.add("name", announcedName) }
        guard !links.isEmpty else { return status }
        status.add("sleepers", reports.flatMap(\.sleepers).map { $0.json(now: BootClock.now) })
        var refusals = JSONObject()
        for reason in RefusalReason.allCases {
            let count = reports.reduce(0) { $0 + ($1.refusals[reason] ?? 0) }
            if count > 0 { refusals.add(reason.rawValue, count) }
        }
        status.add("refusals", refusals)
        return status
    }

    /// The reason why no link is served.
    private var reason: String? {
        guard links.isEmpty else { return nil }
        if settings.isEnabled == false { return "[sleep_proxy] in plugd.toml turns it off" }
        if let fault { return fault }
        guard let first = known.first else { return "no network interface is ready" }
        guard first.hasRawPackets else { return "plugd has no CAP_NET_RAW" }
        return first.refusal.map { "plugd does not manage the addresses of \(first.name): \($0)" }
    }
}

extension SleepProxyReport.Sleeper {
    /// Returns the `host`, its `card`, `addresses` and `state`, the `seconds` since its registration, and the number of
    /// `wakes` by cause.
    fileprivate func json(now: Instant) -> JSONObject {
        var sleeper = JSONObject()
        sleeper.add("host", "\(identity.host)")
        sleeper.add("card", "\(identity.card)")
        sleeper.add("addresses", addresses.map { "\($0)" })
        sleeper.add("state", state.rawValue)
        sleeper.add("seconds", (now - since).components.seconds)
        var counts = JSONObject()
        for cause in WakeCause.allCases { if let count = wakes[cause] { counts.add(cause.rawValue, count) } }
        sleeper.add("wakes", counts)
        return sleeper
    }
}
