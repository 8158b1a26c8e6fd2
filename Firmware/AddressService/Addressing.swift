public import AddressConfiguration
public import DNSWire
import LinuxNetwork
import LinuxSystem
public import Logging
import MulticastDNS
public import NIOCore
public import PlugModel
import ProtocolCore

/// Manages the addresses of a plug's interfaces. Each interface that the plug manages has an ``AddressedInterface``;
/// other interfaces are only observed. Errors never stop the plug; they are logged and reported in ``networks``.
public actor Addressing {
    /// The executor of the event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    /// The settings of the address management.
    public struct Settings: Sendable {
        /// The mode that decides which interfaces the plug manages.
        public var mode: AddressingMode
        /// The names of the interfaces. Empty selects all interfaces that support multicast.
        public var interfaces: Set<String>
        /// The addresses that owners chose, by the name of the interface.
        public var fixed: [String: FixedAddress]
        /// The directory in which addresses are stored.
        public var stateDirectory: String
        /// The directory in which the servers from DHCP are published.
        public var runtimeDirectory: String
        /// The plug's id, for the host name and the DHCP client identifier.
        public var plug: PlugID

        /// Creates the settings.
        public init(
            mode: AddressingMode, interfaces: Set<String>, fixed: [String: FixedAddress] = [:], stateDirectory: String,
            runtimeDirectory: String, plug: PlugID
        ) {
            self.mode = mode
            self.interfaces = interfaces
            self.fixed = fixed
            self.stateDirectory = stateDirectory
            self.runtimeDirectory = runtimeDirectory
            self.plug = plug
        }
    }

    /// A start of plugd within this time after the host's boot counts as a power-on. After a power failure, many hosts
    /// may start at once.
    private static let powerOn = Duration.seconds(60)
    /// The metric of the first interface's routes. Each further interface adds 1.
    private static let firstMetric: UInt32 = 100

    private struct Known {
        var interface: LinuxInterface
        var role: AddressingRole
        var addressed: AddressedInterface?
    }

    private let eventLoop: any EventLoop
    private var settings: Settings
    private let logger: Logger
    private let store: AddressStore
    private let servers: ServerFiles
    private let host: HostFiles
    private var changed: @Sendable ([PlugNetwork]) -> Void = { _ in }
    private var control: RouteControl?
    private var known: [Int32: Known] = [:]
    private var following: Task<Void, Never>?
    private var isStopped = false
    private var isTold = true
    /// The interface with the plug's own network, and the plug's address in it.
    private var ownNetwork: (interface: String, address: IPv4Address, prefixLength: UInt8)?

    /// Creates a stopped address manager.
    public init(_ settings: Settings, on eventLoop: any EventLoop, logger: Logger) {
        self.init(settings, host: HostFiles(), on: eventLoop, logger: logger)
    }

    /// Creates a stopped address manager that reads the host's files from `host`, such as a test's file tree.
    package init(_ settings: Settings, host: HostFiles, on eventLoop: any EventLoop, logger: Logger) {
        self.settings = settings
        self.host = host
        self.eventLoop = eventLoop
        self.logger = logger
        store = AddressStore(directory: settings.stateDirectory, logger: logger)
        servers = ServerFiles(directory: settings.runtimeDirectory, logger: logger)
    }

    /// Starts the management and returns immediately.
    public func start() {
        do throws(RouteError) {
            control = try RouteControl()
        } catch {
            logger.error("addresses are not managed: \(error)", metadata: ["hint": "\(error.hint)"])
        }
        let filter: InterfaceFilter = settings.interfaces.isEmpty ? .multicastCapable : .named(settings.interfaces)
        following = Task {
            do {
                for try await list in InterfaceMonitor.interfaces(filter, on: eventLoop) { update(list) }
            } catch {
                logger.error("addresses are not managed: \(error)")
            }
        }
    }

    /// Stops and restores the kernel's settings. Addresses remain for the next plugd.
    public func stop() {
        isStopped = true
        following?.cancel()
        for known in known.values { known.addressed?.assumeIsolated { $0.stop() } }
    }

    /// Calls `changed` with ``networks`` now and after each possible change, on the event loop. A new closure replaces
    /// the previous one.
    public func tell(_ changed: @escaping @Sendable ([PlugNetwork]) -> Void) {
        self.changed = changed
        changed(networks)
    }

    /// The number of malformed frames on all current interfaces.
    public var malformedFrames: Int {
        known.values.reduce(0) { $0 + ($1.addressed?.assumeIsolated { $0.malformed } ?? 0) }
    }

    /// The state of at most ``PlugNetwork/limit`` interfaces.
    public var networks: [PlugNetwork] {
        known.sorted { $0.key < $1.key }.prefix(PlugNetwork.limit).map { _, known in
            var network = PlugNetwork(
                name: known.interface.name, isManaged: known.addressed != nil, reason: "\(known.role.reason)",
                hardwareAddress: MACAddress(bytes: known.interface.hardwareAddress).map { "\($0)" } ?? "",
                addresses: known.interface.addresses.filter(\.isUsable).prefix(PlugNetwork.addressLimit).map(\.text))
            guard let status = known.addressed?.assumeIsolated({ $0.machine.status }) else { return network }
            network.conflicts = status.conflicts
            switch status.linkLocal {
            case .none, .claiming: break
            case .held(let address), .deprecated(let address): network.linkLocal = "\(address)"
            }
            if case .leased(let lease) = status.dhcp {
                network.lease = PlugNetwork.Lease(
                    address: "\(lease.address)", server: "\(lease.server)", router: lease.router.map { "\($0)" },
                    expires: lease.expires)
            }
            return network
        }
    }

    /// The interfaces of Ethernet or Wi-Fi with a usable address, for a sleep proxy.
    public var links: [AddressedLink] {
        let hasRawPackets = !host.missingCapabilities.contains("CAP_NET_RAW")
        return known.sorted { $0.key < $1.key }.compactMap { index, known in
            guard known.interface.isOperational, let hardware = MACAddress(bytes: known.interface.hardwareAddress),
                hardware != .zero
            else { return nil }
            let addresses = known.interface.addresses.filter(\.isUsable).compactMap { described in
                IPAddress(bytes: described.bytes).map {
                    InterfaceAddress($0, prefixLength: described.prefixLength, isDeprecated: described.isDeprecated)
                }
            }
            guard !addresses.isEmpty else { return nil }
            let status = known.addressed?.assumeIsolated { $0.machine.status }
            var servers = DefaultRouters.all(of: known.interface.name)
            if case .leased(let lease) = status?.dhcp { servers.insert(.v4(lease.server)) }
            servers.formUnion(self.servers.nameServers(of: index).map { .v4($0) })
            return AddressedLink(
                interface: index, name: known.interface.name, hardware: hardware,
                refusal: known.addressed == nil ? "\(known.role.reason)" : nil, hasRawPackets: hasRawPackets,
                addresses: addresses, infrastructure: servers)
        }
    }

    /// Returns true if an interface other than this one has a link, for example by a cable.
    public func hasLink(besides name: String) -> Bool {
        known.values.contains { known in
            let interface = known.interface
            return interface.name != name && interface.isOperational && !interface.flags.contains(.loopback)
                && (known.addressed != nil || interface.addresses.contains(where: \.isUsable))
        }
    }

    /// Assigns an address to an interface that has the plug's own network, and no others. Nil ends that, and the interface
    /// gets addresses from the networks that it joins.
    ///
    /// - Returns: false if the kernel refused, or if the interface does not exist.
    public func serve(_ address: IPv4Address?, prefixLength: UInt8, on name: String) -> Bool {
        guard let control, let index = known.first(where: { $0.value.interface.name == name })?.key,
            let interface = known[index]?.interface
        else { return false }
        var change: RouteRequest?
        var routes: [InterfaceRoute] = []
        if let address {
            ownNetwork = (name, address, prefixLength)
            change = .put(
                KernelAddress(interface: index, address: .v4(address), prefixLength: prefixLength, scope: .global))
            let mask = UInt32.max << (32 - UInt32(min(prefixLength, 31)))
            routes = [
                InterfaceRoute(
                    interface: index, destination: IPv4Address(rawValue: address.rawValue & mask),
                    prefixLength: prefixLength, router: nil, source: address, metric: Self.firstMetric)
            ]
        } else if let former = ownNetwork {
            ownNetwork = nil
            change = .removeAddress(interface: index, .v4(former.address), prefixLength: former.prefixLength)
        }
        guard let change else { return true }
        withdraw(index)
        do throws(RouteError) {
            try control.perform(change)
            if let fault = control.replaceRoutes(of: index, with: routes) { throw fault }
        } catch {
            logger.warning("\(error)", metadata: ["hint": "\(error.hint)"])
        }
        let addresses = begin(interface, control)
        return address == nil || addresses.contains { $0.version4 == address }
    }

    /// Gives an interface the address that an owner chose. Nil lets a DHCP server choose.
    public func fix(_ address: FixedAddress?, on name: String) {
        guard settings.fixed[name] != address else { return }
        settings.fixed[name] = address
        guard let control, let known = known.values.first(where: { $0.interface.name == name }), known.addressed != nil
        else { return }
        withdraw(known.interface.index)
        begin(known.interface, control)
    }

    private func withdraw(_ index: Int32) {
        known[index]?.addressed?.assumeIsolated { $0.withdraw() }
        leave(index)
    }

    /// Decides again about an interface, and returns its addresses.
    @discardableResult
    private func begin(_ interface: LinuxInterface, _ control: RouteControl) -> [LinuxAddress] {
        var current = interface
        current.addresses = (try? control.addresses(of: interface.index)) ?? []
        handle(current)
        tell()
        return current.addresses
    }

    private func update(_ list: [LinuxInterface]) {
        guard !isStopped else { return }
        for change in InterfaceChange.changes(from: known.values.map(\.interface), to: list) {
            switch change {
            case .added(let interface): handle(interface)
            case .removed(let interface): leave(interface.index)
            case .changed(let interface, let linkWasLost): follow(interface, linkWasLost: linkWasLost)
            }
        }
        tell()
    }

    private func follow(_ interface: LinuxInterface, linkWasLost: Bool) {
        guard let former = known[interface.index] else { return }
        let cameBack = interface.isOperational && (linkWasLost || !former.interface.isOperational)
        if interface.name != former.interface.name {
            store.remember(store.remembered(of: former.interface.name), of: interface.name)
        }
        // A program that starts after plugd and assigns an address takes over the interface.
        let isTaken = former.addressed != nil && interface.addresses != former.interface.addresses
        guard cameBack || isTaken || interface.name != former.interface.name else {
            known[interface.index]?.interface = interface
            former.addressed?.assumeIsolated { $0.update(interface, linkWasLost: linkWasLost) }
            return
        }
        let role = role(of: interface, addressed: former.addressed)
        guard role.isManaged == (former.addressed != nil) else {
            withdraw(interface.index)
            return handle(interface)
        }
        if role != former.role { say(role, interface) }
        known[interface.index]?.interface = interface
        known[interface.index]?.role = role
        former.addressed?.assumeIsolated { $0.update(interface, linkWasLost: linkWasLost) }
    }

    private func leave(_ index: Int32) {
        guard let gone = known.removeValue(forKey: index) else { return }
        gone.addressed?.assumeIsolated { $0.stop() }
        if gone.addressed != nil { servers.set(nil, of: index) }
    }

    private func handle(_ interface: LinuxInterface) {
        let role = role(of: interface)
        say(role, interface)
        known[interface.index] = Known(interface: interface, role: role)
        guard role.isManaged, let control, let hardware = MACAddress(bytes: interface.hardwareAddress) else { return }
        let index = interface.index
        let addressed = AddressedInterface(
            interface, configuration(interface, hardware), secret: store.secret, control: control, on: eventLoop,
            logger: logger
        ) { [weak self] report in
            self?.assumeIsolated { $0.handle(report, from: index) }
        }
        known[index]?.addressed = addressed
        addressed.assumeIsolated { $0.start() }
    }

    private func configuration(
        _ interface: LinuxInterface, _ hardware: MACAddress
    ) -> InterfaceAddressing.Configuration {
        let remembered = store.remembered(of: interface.name)
        let own = rememberedBytes(interface.name)
        let inherited = interface.addresses.filter { $0.origin == .plug || own.contains($0.bytes) }
        return InterfaceAddressing.Configuration(
            hardwareAddress: hardware, hostName: "plug-\(settings.plug.short)",
            clientIdentifier: ClientIdentifier.bytes(plug: settings.plug, interface: interface.name),
            fixed: settings.fixed[interface.name],
            remembered: remembered, inherited: Set(inherited.compactMap(\.version4)),
            isPowerOn: BootClock.now - .zero < Self.powerOn,
            routeMetric: Self.firstMetric + UInt32(known.values.count { $0.addressed != nil }),
            seed: .random(in: .min ... .max))
    }

    private func role(of interface: LinuxInterface, addressed: AddressedInterface? = nil) -> AddressingRole {
        if ownNetwork?.interface == interface.name { return AddressingRole(isManaged: false, reason: .ownNetwork) }
        let former = addressed?.assumeIsolated { $0.former } ?? []
        return AddressingRole.decide(
            AddressingRole.Facts(
                mode: settings.mode, interface: interface, isNamed: settings.interfaces.contains(interface.name),
                isHardware: host.isHardware(interface.name),
                manager: host.manager(of: interface.name, index: interface.index),
                remembered: rememberedBytes(interface.name).union(former.map(\.bytes)),
                missingCapabilities: host.missingCapabilities))
    }

    /// The stored addresses in network byte order, the format of the kernel's addresses.
    private func rememberedBytes(_ interface: String) -> Set<[UInt8]> {
        let remembered = store.remembered(of: interface)
        return Set([remembered.linkLocal, remembered.lease?.address].compactMap { $0?.bytes })
    }

    private func say(_ role: AddressingRole, _ interface: LinuxInterface) {
        logger.info(
            role.isManaged ? "manages the interface's addresses" : "leaves the interface's addresses to other programs",
            metadata: ["interface": "\(interface.name)", "reason": "\(role.reason)"])
        guard !role.isManaged, role.reason != .ownNetwork, let fixed = settings.fixed[interface.name] else { return }
        logger.warning(
            "the configured address \(fixed.address) is not used: \(role.reason)",
            metadata: [
                "interface": "\(interface.name)", "hint": "let the plug manage the interface, or remove the address",
            ])
    }

    private func handle(_ report: AddressedInterface.Report, from index: Int32) {
        switch report {
        case .changed: tellSoon()
        case .servers(let new): servers.set(new, of: index)
        case .remember(let addresses):
            if let name = known[index]?.interface.name { store.remember(addresses, of: name) }
        }
    }

    /// Schedules one report for all changes in this turn of the event loop.
    private func tellSoon() {
        guard isTold else { return }
        isTold = false
        eventLoop.execute { [weak self] in self?.assumeIsolated { $0.tell() } }
    }

    private func tell() {
        isTold = true
        guard !isStopped else { return }
        changed(networks)
    }
}
