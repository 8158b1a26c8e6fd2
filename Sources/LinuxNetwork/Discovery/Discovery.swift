import LinuxClocks
public import Logging
import MulticastDNS
public import NIOCore
import NIOPosix
import ProtocolCore
import ServiceDiscovery
import Synchronization

/// Service discovery on the host's real interfaces: registers, browses and resolves in `local` by multicast DNS.
///
/// It starts working when it is made and lives until ``stop()``. Interfaces may come, change and go at any time; without
/// one it waits. The protocol is ``DiscoveryNode``; this actor gives it packets, time and the list of interfaces, and runs on
/// the given event loop, so that a packet is handled in the same turn of the loop that received it.
///
/// Answers sent to one host's port 5353 reach one socket of that host only, so beside another responder a part of the
/// unicast traffic is lost to either of them; everything that matters travels by multicast.
public actor Discovery {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    let eventLoop: any EventLoop
    let logger: Logger
    let interfaces: InterfaceFilter
    let configuration: DiscoveryNode.Configuration
    /// Numbers registrations, browses and resolves.
    nonisolated let lastIdentifier = Atomic<UInt64>(0)
    var node: DiscoveryNode
    var links: [InterfaceID: DiscoveryLink] = [:]
    var registrations: [RegistrationID: RegistrationState] = [:]
    var browses: [BrowseID: BrowseState] = [:]
    var typeBrowses: [BrowseID: AsyncStream<[ServiceType]>.Continuation] = [:]
    var resolves: [ResolveID: AsyncStream<Resolution>.Continuation] = [:]
    var saidWaiting = false
    /// Datagrams that belong to no interface in use.
    var strayCount = 0
    /// Of the sockets that are closed.
    var formerSockets = SocketCounters()
    private let actions = ActionQueue<DiscoveryNode.Action>()
    private var timer = DeadlineTimer()
    private var sleep = SleepDetector(asleep: BootClock.timeAsleep)
    private var following: Task<Void, Never>?
    private var stopping: Task<Void, Never>?

    var isStopped: Bool { stopping != nil }

    /// - Parameter interfaces: where to work; loopback only when it is named.
    public init(interfaces: InterfaceFilter = .multicastCapable, on eventLoop: any EventLoop, logger: Logger) {
        self.eventLoop = eventLoop
        self.logger = logger
        self.interfaces = interfaces
        // Looked up once: our own sockets are not open yet, and whoever comes later objects to nothing that is claimed by then.
        configuration = DiscoveryNode.Configuration(sharesPort: !SocketEntry.all(onPort: RFC6762.port).isEmpty)
        // Delays and tiebreaks need no secret, only hosts that differ.
        node = DiscoveryNode(random: SeededRandom(seed: .random(in: .min ... .max)), configuration: configuration)
        eventLoop.execute { self.assumeIsolated { $0.follow() } }
    }

    /// The same on an event loop of the process.
    public init(interfaces: InterfaceFilter = .multicastCapable, logger: Logger = Logger(label: "discovery")) {
        self.init(interfaces: interfaces, on: MultiThreadedEventLoopGroup.singleton.next(), logger: logger)
    }

    /// Says goodbye for everything registered, ends every sequence and returns when the last packet is with the kernel.
    public func stop() async {
        // Whoever calls second waits for the same goodbyes, and a cancelled caller does not cut them short.
        let task = stopping ?? Task { await sayGoodbye() }
        stopping = task
        await task.value
    }

    private func sayGoodbye() async {
        following?.cancel()
        timer.stop()
        let goodbyes = node.handle(.stop, now: BootClock.now).compactMap { action in
            switch action {
            case .send(let datagram): send(datagram)
            case .registered, .nameTaken, .browse, .types, .resolved, .unresolved, .displaced: nil
            }
        }
        finishSequences()
        await written(goodbyes)
        for link in links.values { close(link) }
        links = [:]
    }

    private func written(_ datagrams: [EventLoopFuture<Void>]) async {
        // A socket fulfils its promise whether or not the kernel took the datagram.
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
            } catch let error as InterfaceMonitorError {
                logger.error("\(error)", metadata: ["hint": "\(error.hint)"])
            } catch {
                logger.error("cannot follow the network interfaces: \(error)")
            }
        }
    }

    nonisolated func newIdentifier() -> UInt64 {
        lastIdentifier.add(1, ordering: .relaxed).newValue
    }

    /// Gives the event to the machine, does what it says and waits for its next deadline.
    func handle(_ event: DiscoveryNode.Event) {
        guard !isStopped else { return }
        let now = BootClock.now
        if sleep.hasSlept(asleep: BootClock.timeAsleep) {
            logger.info("the host slept; claiming and asking again")
            actions.perform(node.handle(.resumed, now: now), by: perform)
        }
        actions.perform(node.handle(event, now: now), by: perform)
        renewMemberships(now: now)
        // The loop's clock stands still while the host is suspended and the machine's does not, so after a suspension the
        // timer comes late; what was due is done then.
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
                "another host has the name \"\(name)\": this one takes another until that is free",
                metadata: ["host": "\(host.address)", "again": "in \(pause.wholeNanoseconds / 1_000_000_000) s"])
        case .browse(let id, let change): browsed(id, change)
        case .types(let id, let types): typeBrowses[id]?.yield(types)
        case .resolved(let id, let service): resolves[id]?.yield(.resolved(service))
        case .unresolved(let id): resolves[id]?.yield(.gone)
        case .displaced(let id): resolves.removeValue(forKey: id)?.finish()
        }
    }
}
