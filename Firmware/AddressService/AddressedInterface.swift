import AddressConfiguration
import DNSWire
import LinuxNetwork
import LinuxSystem
import Logging
import NIOCore
import ProtocolCore

/// An interface whose addresses the plug manages: the shell of ``InterfaceAddressing`` and ``IPv6LinkLocalClaim``.
///
/// Everything runs on one event loop, and received frames arrive as plain function calls.
package actor AddressedInterface {
    /// The executor of the event loop.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    /// Events for the owner of the interface.
    enum Report: Sendable {
        /// The interface or the status of its addresses may have changed.
        case changed
        /// The servers that DHCP reported changed, or are no longer valid.
        case servers(NetworkServers?)
        /// The addresses changed and must be stored for the next start.
        case remember(RememberedAddresses)
    }

    let eventLoop: any EventLoop
    var logger: Logger
    let control: RouteControl
    var interface: LinuxInterface
    var machine: InterfaceAddressing
    var linkLocal: IPv6LinkLocalClaim
    /// The prefix length of each assigned IPv4 address, and whether the kernel has reported the address.
    var assigned: [IPv4Address: (prefixLength: UInt8, wasSeen: Bool)] = [:]
    /// The last 64 addresses that the plug assigned. The kernel may still list one that the plug has removed. An
    /// address that is not in `former` was assigned by a different program.
    private(set) var former: [IPv4Address] = []
    private static let formerLimit = 64
    /// The routes to set again after the kernel dropped them, which happens when the interface is disabled.
    var routes: [InterfaceRoute]?
    var settings = (
        ignoredARP: KernelSetting(.ignoredARP), unicastProbes: KernelSetting(.unicastProbes),
        disableIPv6: KernelSetting(.disableIPv6)
    )
    /// The number of received frames that could not be decoded.
    private(set) var malformed = 0
    var frames: InterfaceFrames?
    let report: @Sendable (Report) -> Void
    /// The kernel's answers to the current step: at most one per address.
    var answers: [AddressingEvent] = []
    private var timer = DeadlineTimer()
    private var sleep = SleepDetector(asleep: BootClock.timeAsleep)
    private var isStopped = false
    /// The time of the next check for connections on a deprecated link-local address, or nil.
    private var nextLook: Instant?
    private static let lookInterval = Duration.seconds(5)

    /// Creates a stopped interface.
    /// - Parameters:
    ///   - configuration: The identity of the plug and the known state of this interface.
    ///   - report: Called on the event loop.
    init(
        _ interface: LinuxInterface, _ configuration: InterfaceAddressing.Configuration, secret: [UInt8],
        control: RouteControl, on eventLoop: any EventLoop, logger: Logger,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.interface = interface
        self.eventLoop = eventLoop
        self.control = control
        self.report = report
        self.logger = logger
        self.logger[metadataKey: "interface"] = "\(interface.name)"
        machine = InterfaceAddressing(configuration: configuration)
        linkLocal = IPv6LinkLocalClaim(interface: interface.name, secret: secret)
        for address in interface.addresses {
            guard let known = address.version4, configuration.inherited.contains(known) else { continue }
            assigned[known] = (address.prefixLength, true)
            former.append(known)
        }
    }

    /// Enables the interface if necessary, opens its sockets, and starts the claims if there is a link.
    func start() {
        if !interface.flags.contains(.up) {
            attempt { () throws(RouteError) in try control.perform(.linkUp(interface: interface.index)) }
        }
        frames = InterfaceFrames(interface: interface.index, on: eventLoop, logger: logger) { [weak self] heard in
            self?.assumeIsolated { $0.hear(heard) }
        }
        if interface.isOperational { linkCame() }
    }

    /// Stops without removing addresses and routes, because plugd may restart soon. The kernel removes a leased address
    /// when its lease expires.
    func stop() {
        isStopped = true
        timer.stop()
        frames?.close()
        settings.ignoredARP.restore(on: interface.name)
        settings.unicastProbes.restore(on: interface.name)
        settings.disableIPv6.restore(on: interface.name)
    }

    /// Removes the IPv4 addresses and the routes that the plug set, because a different program manages the interface
    /// now.
    func withdraw() {
        _ = control.replaceRoutes(of: interface.index, with: [])
        for address in Array(assigned.keys) { remove(address) }
        stop()
    }

    /// Adds an address to ``former``.
    func note(_ address: IPv4Address) {
        former.removeAll { $0 == address }
        former = (former + [address]).suffix(Self.formerLimit)
    }

    /// Handles a changed interface. `linkWasLost` is true if the link was lost and restored since the last update.
    func update(_ new: LinuxInterface, linkWasLost: Bool) {
        guard !isStopped else { return }
        let old = interface
        interface = new
        logger[metadataKey: "interface"] = "\(new.name)"
        if new.hardwareAddress != old.hardwareAddress, let address = MACAddress(bytes: new.hardwareAddress) {
            logger.notice("the hardware address changed to \(address)")
            handle(.hardwareAddressChanged(address))
        }
        if old.isOperational, linkWasLost || !new.isOperational { linkWent() }
        if new.isOperational, linkWasLost || !old.isOperational { linkCame() }
        look(for: new.addresses)
        handleLinkLocal(.addresses(linkLocalAddresses))
        report(.changed)
    }

    private func linkCame() {
        frames?.linkCame()
        if let routes { set(routes) }
        handle(.inUse(ConnectionEnds.local()))
        handle(.linkUp)
        guard let kernel = IPv6LinkLocalClaim.Kernel(of: interface.name) else { return }
        handleLinkLocal(.addresses(linkLocalAddresses))
        handleLinkLocal(.linkUp(kernel))
    }

    private func linkWent() {
        handle(.inUse(ConnectionEnds.local()))
        handle(.linkDown)
        handleLinkLocal(.linkDown)
    }

    private var linkLocalAddresses: [IPv6Address: IPv6LinkLocalClaim.Progress] {
        var addresses: [IPv6Address: IPv6LinkLocalClaim.Progress] = [:]
        for address in interface.addresses where address.isLinkLocalIPv6 {
            if let known = address.version6 { addresses[known] = address.progress }
        }
        return addresses
    }

    private func hear(_ heard: InterfaceFrames.Heard) {
        switch heard {
        case .arp(let packet): handle(.receivedARP(packet))
        case .dhcp(let message, let source): handle(.receivedDHCP(message, from: source))
        case .malformed: malformed += 1
        }
    }

    // MARK: The machines

    func handle(_ event: AddressingEvent) {
        guard !isStopped else { return }
        let now = BootClock.now
        let before = machine.status
        if sleep.hasSlept(asleep: BootClock.timeAsleep) {
            logger.info("the host resumed from suspend; claiming all addresses again")
            pass(.inUse(ConnectionEnds.local()), now: now)
            pass(.resumed, now: now)
        }
        if event == .deadlineReached { lookForConnections(now: now) }
        pass(event, now: now)
        nextLook = isLinkLocalDeprecated ? nextLook ?? now + Self.lookInterval : nil
        follow()
        if machine.status != before { report(.changed) }
    }

    /// Handles an event. The answers of the kernel follow after all actions of a step.
    private func pass(_ event: AddressingEvent, now: Instant) {
        perform(machine.handle(event, now: now))
        while !answers.isEmpty { perform(machine.handle(answers.removeFirst(), now: now)) }
    }

    /// Removes a deprecated link-local address when its last connection has ended. The kernel does not report that
    /// event, so its connections are polled.
    private func lookForConnections(now: Instant) {
        guard isLinkLocalDeprecated else { return }
        nextLook = nil
        pass(.inUse(ConnectionEnds.local()), now: now)
    }

    private var isLinkLocalDeprecated: Bool {
        if case .deprecated = machine.status.linkLocal { true } else { false }
    }

    private func perform(_ actions: [AddressingAction]) {
        for action in actions { perform(action) }
    }

    func handleLinkLocal(_ event: IPv6LinkLocalClaim.Event) {
        guard !isStopped else { return }
        for action in linkLocal.handle(event, now: BootClock.now) { perform(action) }
        follow()
    }

    private func follow() {
        let next = sooner(sooner(machine.nextDeadline, linkLocal.nextDeadline), nextLook)
        timer.follow(next, now: BootClock.now, on: eventLoop) { [weak self] in
            self?.assumeIsolated { interface in
                interface.handle(.deadlineReached)
                interface.handleLinkLocal(.deadlineReached)
            }
        }
    }
}
