import AddressConfiguration
import DNSWire
import LinkWire
import LinuxClocks
import LinuxNetwork
import Logging
import NIOCore
import ProtocolCore

/// An interface whose addresses are the plug's to give: the shell of ``InterfaceAddressing`` and ``IPv6LinkLocalClaim``.
///
/// Everything runs on one event loop; a frame that arrives enters by a plain call.
package actor AddressedInterface {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    /// What the interface's owner has to know.
    enum Report: Sendable {
        /// ``network`` says something else than before, or may.
        case changed
        case servers(NetworkServers?)
        case remember(RememberedAddresses)
    }

    let eventLoop: any EventLoop
    var logger: Logger
    let control: RouteControl
    var interface: LinuxInterface
    var machine: InterfaceAddressing
    var linkLocal: IPv6LinkLocalClaim
    /// Bits of the IPv4 addresses that are ours, and whether the kernel was seen to have them.
    var assigned: [IPv4Address: (prefixLength: UInt8, wasSeen: Bool)] = [:]
    /// Every address that was ours: one that was just taken back may still stand in a list of the kernel's. An address that is not
    /// among the last ones came from elsewhere.
    private(set) var former: [IPv4Address] = []
    private static let formerLimit = 64
    /// To be set again where the kernel dropped them, as it does when an interface is switched off.
    var routes: [InterfaceRoute]?
    var settings = (
        ignoredARP: KernelSetting(.ignoredARP), unicastProbes: KernelSetting(.unicastProbes),
        disableIPv6: KernelSetting(.disableIPv6)
    )
    /// Frames that were no packets.
    private(set) var malformed = 0
    var frames: InterfaceFrames?
    let report: @Sendable (Report) -> Void
    /// Of the kernel to the step that is being done; at most one for each address that it asks for.
    var answers: [AddressingEvent] = []
    private var timer = DeadlineTimer()
    private var sleep = SleepDetector(asleep: BootClock.timeAsleep)
    private var isStopped = false
    /// When to look again whether connections are left on an address that is to go.
    private var nextLook: Instant?
    private static let lookInterval = Duration.seconds(5)

    /// - Parameters:
    ///   - configuration: what the plug is and knows of this interface.
    ///   - report: called on the event loop.
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

    /// Switches the interface on where it is off, listens, and begins where there is a link.
    func start() {
        if !interface.flags.contains(.up) {
            attempt { () throws(RouteError) in try control.perform(.linkUp(interface: interface.index)) }
        }
        frames = InterfaceFrames(interface: interface.index, on: eventLoop, logger: logger) { [weak self] heard in
            self?.assumeIsolated { $0.hear(heard) }
        }
        if interface.isOperational { linkCame() }
    }

    /// Leaves addresses and routes where they are: plugd may be back at once, and the kernel takes a lease away when it ends.
    func stop() {
        isStopped = true
        timer.stop()
        frames?.close()
        settings.ignoredARP.restore(on: interface.name)
        settings.unicastProbes.restore(on: interface.name)
        settings.disableIPv6.restore(on: interface.name)
    }

    /// Takes addresses and routes back: somebody else has the interface from now on.
    func withdraw() {
        _ = control.replaceRoutes(of: interface.index, with: [])
        for address in Array(assigned.keys) { remove(address) }
        stop()
    }

    func note(_ address: IPv4Address) {
        former.removeAll { $0 == address }
        former = (former + [address]).suffix(Self.formerLimit)
    }

    /// The interface as it is now. `linkWasLost`: its carrier went and came back since it was told last.
    func update(_ new: LinuxInterface, linkWasLost: Bool) {
        guard !isStopped else { return }
        let old = interface
        interface = new
        logger[metadataKey: "interface"] = "\(new.name)"
        if new.hardwareAddress != old.hardwareAddress, let address = MACAddress(bytes: new.hardwareAddress) {
            logger.notice("the card has another address now: \(address)")
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
            logger.info("the host slept; addresses are claimed anew")
            pass(.inUse(ConnectionEnds.local()), now: now)
            pass(.resumed, now: now)
        }
        if event == .deadlineReached { lookForConnections(now: now) }
        pass(event, now: now)
        nextLook = isLinkLocalDeprecated ? nextLook ?? now + Self.lookInterval : nil
        follow()
        if machine.status != before { report(.changed) }
    }

    /// The kernel's answers to what a step asks for follow when all of the step is done.
    private func pass(_ event: AddressingEvent, now: Instant) {
        perform(machine.handle(event, now: now))
        while !answers.isEmpty { perform(machine.handle(answers.removeFirst(), now: now)) }
    }

    /// A link-local address beside a lease goes when the last connection on it has ended, which the kernel tells only when asked.
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
