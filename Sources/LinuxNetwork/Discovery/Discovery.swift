import DNSWire
import LinuxSystem
public import Logging
import MulticastDNS
public import NIOCore
import NIOPosix
import ProtocolCore
import ServiceDiscovery
import Synchronization

/// Service discovery on the host's network interfaces: registers, browses and resolves services in `local` by multicast
/// DNS, and in other domains by the host's name servers.
///
/// The discovery starts when it is created and runs until ``stop()``. Interfaces may appear, change and disappear at
/// any time; without an interface the discovery waits for one. ``DiscoveryNode`` implements the protocol; this actor
/// supplies packets, time and the list of interfaces. It runs on the given event loop, so that a packet is handled in
/// the same iteration of the loop that received it.
///
/// A unicast answer to port 5353 reaches only one socket of a host. If another responder runs on the same host, each of
/// the two loses a part of the unicast traffic. All packets on which the protocol depends are sent by multicast.
public actor Discovery {
    /// The event loop on which the actor runs.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    let eventLoop: any EventLoop
    let logger: Logger
    /// The interfaces to use.
    public nonisolated let interfaces: InterfaceFilter
    private let resolverFiles: [String]
    let configuration: DiscoveryNode.Configuration
    /// The newest identifier. Registrations, browses and resolves share one sequence of identifiers.
    nonisolated let lastIdentifier = Atomic<UInt64>(0)
    var node: DiscoveryNode
    var links: [InterfaceID: DiscoveryLink] = [:]
    /// The searches in other domains than `local`; nil before the first one.
    private(set) var domains: DomainServices?
    var registrations: [RegistrationID: RegistrationState] = [:]
    var browses: [BrowseID: BrowseState] = [:]
    var typeBrowses: [BrowseID: AsyncStream<[ServiceType]>.Continuation] = [:]
    var resolves: [ResolveID: AsyncStream<Resolution>.Continuation] = [:]
    /// Receives the reports for a sleep proxy.
    var reportToProxy: @Sendable (ProxyReport) -> Void = { _ in }
    var saidWaiting = false
    /// The number of datagrams that arrived on an interface that is not in use.
    var strayCount = 0
    /// The counters of the closed sockets.
    var formerSockets = SocketCounters()
    private let actions = ActionQueue<DiscoveryNode.Action>()
    private var timer = DeadlineTimer()
    private var sleep = SleepDetector(asleep: BootClock.timeAsleep)
    private var following: Task<Void, Never>?
    private var stopping: Task<Void, Never>?

    var isStopped: Bool { stopping != nil }

    /// Creates a discovery, which starts immediately.
    ///
    /// - Parameters:
    ///   - interfaces: the interfaces to use; loopback is only used if it is named.
    ///   - servesProxy: true if a sleep proxy receives all messages; see ``tellProxy(_:)``. Records without a question
    ///     are then not kept.
    ///   - resolverFiles: the files with the name servers of this host (resolv.conf(5)). The first one that exists is
    ///     used.
    ///   - eventLoop: the event loop on which the actor runs.
    ///   - logger: the logger for interfaces, sockets and conflicts.
    public init(
        interfaces: InterfaceFilter = .multicastCapable, servesProxy: Bool = false,
        resolverFiles: [String] = ["/etc/resolv.conf"], on eventLoop: any EventLoop, logger: Logger
    ) {
        self.resolverFiles = resolverFiles
        self.eventLoop = eventLoop
        self.logger = logger
        self.interfaces = interfaces
        // The port is checked once, before our own sockets are open. Only probes depend on the result, and a responder
        // that starts later finds the names already claimed.
        configuration = DiscoveryNode.Configuration(
            sharesPort: !SocketEntry.all(onPort: RFC6762.port).isEmpty, reportsMessages: servesProxy,
            keepsAllRecords: !servesProxy)
        // Random delays and tiebreaks need no secret, only different values on different hosts.
        node = DiscoveryNode(random: SeededRandom(seed: .random(in: .min ... .max)), configuration: configuration)
        eventLoop.execute { self.assumeIsolated { $0.follow() } }
    }

    /// Creates a discovery on an event loop of the process.
    public init(interfaces: InterfaceFilter = .multicastCapable, logger: Logger = Logger(label: "discovery")) {
        self.init(interfaces: interfaces, on: MultiThreadedEventLoopGroup.singleton.next(), logger: logger)
    }

    /// Sends goodbyes for all registrations, ends all sequences, and returns when the kernel has accepted or refused
    /// the last packet.
    public func stop() async {
        // A second caller waits for the same goodbyes, and a cancelled caller does not interrupt them.
        let task = stopping ?? Task { await sayGoodbye() }
        stopping = task
        await task.value
    }

    private func sayGoodbye() async {
        following?.cancel()
        timer.stop()
        domains?.stop()
        domains = nil
        let goodbyes = node.handle(.stop, now: BootClock.now).compactMap { action in
            switch action {
            case .send(let datagram): send(datagram)
            case .registered, .nameTaken, .browse, .types, .resolved, .unresolved, .displaced, .conflicted, .heard:
                nil
            }
        }
        finishSequences()
        await written(goodbyes)
        for link in links.values { close(link) }
        links = [:]
    }

    private func written(_ datagrams: [EventLoopFuture<Void>]) async {
        // A socket fulfils its promise even if the kernel refuses the datagram.
        try? await EventLoopFuture.andAllComplete(datagrams, on: eventLoop).get()
    }

    private func finishSequences() {
        for registration in registrations.values { registration.names.finish() }
        for browse in browses.values { browse.signal.finish() }
        for types in typeBrowses.values { types.finish() }
        for resolve in resolves.values { resolve.finish() }
        registrations = [:]
        browses = [:]
        typeBrowses = [:]
        resolves = [:]
    }

    private func follow() {
        guard !isStopped else { return }
        following = Task {
            do {
                for try await list in InterfaceMonitor.interfaces(interfaces, on: eventLoop) { update(list) }
            } catch let error as NetworkError {
                logger.error("\(error)", metadata: error.hint.map { ["hint": "\($0)"] })
            } catch {
                logger.error("cannot follow the network interfaces: \(error)")
            }
        }
    }

    /// The searches in other domains, which are created for the first one.
    var domainServices: DomainServices {
        if let domains { return domains }
        let files = ResolverFiles(paths: resolverFiles)
        let services = DomainServices(files: files, networks: networkNames, on: eventLoop, logger: logger) { report in
            self.assumeIsolated { discovery in
                switch report {
                case .browse(let id, let change): discovery.browsed(id, change)
                case .resolve(let id, let resolution): discovery.resolves[id]?.yield(resolution)
                }
            }
        }
        domains = services
        return services
    }

    /// The names of the networks of this host, without those of link-local addresses.
    var networkNames: [Name] {
        links.values.sorted { $0.network.id < $1.network.id }.flatMap(\.network.addresses)
            .filter { !$0.address.isLinkLocal && !$0.address.isLoopback }
            .map { Name(network: $0.address, prefixLength: $0.prefixLength) }
    }

    nonisolated func newIdentifier() -> UInt64 {
        lastIdentifier.add(1, ordering: .relaxed).newValue
    }

    /// Handles an event with the machine, performs its actions and schedules its next deadline.
    func handle(_ event: DiscoveryNode.Event) {
        guard !isStopped else { return }
        let now = BootClock.now
        if sleep.hasSlept(asleep: BootClock.timeAsleep) {
            logger.info("the host was suspended; announcing and querying again")
            actions.perform(node.handle(.resumed, now: now), by: perform)
        }
        actions.perform(node.handle(event, now: now), by: perform)
        renewMemberships(now: now)
        // The event loop's clock stops while the host is suspended, but the machine's does not. So the timer can fire
        // up to ``DeadlineTimer/longestWait`` too late after a suspend; due work is done then.
        timer.follow(sooner(node.nextDeadline, membershipDeadline), now: BootClock.now, on: eventLoop) {
            self.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    private func perform(_ action: DiscoveryNode.Action) {
        switch action {
        case .send(let datagram): _ = send(datagram)
        case .registered(let id, let name): registered(id, name)
        case .nameTaken(_, let name, let host, let pause):
            logger.notice(
                "another host has the name \"\(name)\": this host uses a different one until it is free",
                metadata: ["host": "\(host.address)", "again": "in \(pause.wholeNanoseconds / 1_000_000_000) s"])
        case .browse(let id, let change): browsed(id, change)
        case .types(let id, let types): typeBrowses[id]?.yield(types)
        case .resolved(let id, let service): resolves[id]?.yield(.resolved(service))
        case .unresolved(let id): resolves[id]?.yield(.gone)
        case .displaced(let id): resolves.removeValue(forKey: id)?.finish()
        case .conflicted(let group, _): reportToProxy(.conflicted(group))
        case .heard(let message): reportToProxy(.heard(message))
        }
    }
}
