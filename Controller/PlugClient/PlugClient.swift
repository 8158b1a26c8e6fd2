public import DNSWire
public import LinuxNetwork
import LinuxSystem
public import Logging
public import NIOCore
import NIOPosix
public import PlugModel
public import PlugTransport
import ProtocolCore
public import ServiceDiscovery
import Synchronization

/// Finds, follows and commands the plugs of a house.
///
/// ```swift
/// let client = PlugClient(name: "kitchen tablet", identity: try .ofThisController(), logger: logger)
/// let lamp = try await client.plug("Living Room Lamp")
/// try await lamp.turn(on: true)
/// await client.stop()
/// ```
public final class PlugClient: Sendable {
    /// The DNS-SD service type of plugs.
    public static let serviceType: ServiceType = "_smartplug._tcp"

    /// The browser and resolver of this client.
    public let discovery: Discovery
    /// The event loop on which this client runs.
    public let eventLoop: any EventLoop
    let name: String
    /// The event loop of all clients in this process. It never ends, because actors, streams and timers of a client may
    /// schedule work on it after the client has stopped. For example, a reader that ends after the client has stopped
    /// ends its browse on this event loop.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let dialer: RenewedDialer
    let paired: PairedPlugs
    private let writer: PairedPlugsWriter
    /// The domains of name servers in which plugs are searched in addition to `local`.
    private let configuredDomains: [Name]
    private let usesRecommendedDomains: Bool
    /// The only place of all plugs that this client connects to, if the user gave one.
    let address: PlugAddress?
    private let network: FollowedNetwork
    private let isStopped = Mutex(false)
    private let refusal = Mutex<(@Sendable (PairedPlugs.Entry) -> String?)?>(nil)

    /// Creates a client and starts its discovery.
    ///
    /// - Parameters:
    ///   - name: The name of this controller, at most 63 bytes. Plugs report this name as the cause of the controller's
    ///     commands.
    ///   - identity: The controller's key.
    ///   - renewed: Returns the current key before each connection; nil if the key cannot be read or never changes.
    ///   - paired: The list of paired plugs. With a plug that is not in the list, the client can only pair.
    ///   - keyLog: Receives the secrets of each connection, for packet traces.
    ///   - interfaces: The names of the network interfaces to use; empty for all that support multicast.
    ///   - domains: The domains of name servers in which plugs are searched in addition to `local`.
    ///   - usesRecommendedDomains: True to search the domains that the network recommends, too.
    ///   - address: The address of the only plug that this client connects to, without a search. Nil to search plugs,
    ///     and to use the addresses in `paired` for plugs that are not found in the local network.
    ///   - logger: Receives the log of the discovery.
    public init(
        name: String, identity: TransportIdentity, renewed: @escaping @Sendable () -> TransportIdentity? = { nil },
        paired: PairedPlugs = PairedPlugs(), keyLog: KeyLog? = nil,
        interfaces: Set<String> = [], domains: [Name] = [], usesRecommendedDomains: Bool = false,
        address: PlugAddress? = nil, logger: Logger
    ) {
        self.name = name
        self.paired = paired
        configuredDomains = domains
        self.usesRecommendedDomains = usesRecommendedDomains
        self.address = address
        writer = PairedPlugsWriter(paired)
        dialer = RenewedDialer(identity, keyLog: keyLog, renewed: renewed)
        eventLoop = Self.loops.next()
        let filter = interfaces.isEmpty ? InterfaceFilter.multicastCapable : .named(interfaces)
        discovery = Discovery(interfaces: filter, on: eventLoop, logger: logger)
        network = FollowedNetwork(filter, on: eventLoop)
        prioritize(Set((pairedNames() ?? [:]).values))
    }

    /// The paired plugs with their names as in ``PairedPlugs/names()``; nil if the list cannot be read now.
    func pairedNames() -> [PlugID: String]? { try? paired.names() }

    /// Prioritizes these names in the discovery, so that other announcements cannot displace them.
    func prioritize(_ names: Set<String>) {
        let services = Set(names.map { ServiceIdentity(name: $0, type: Self.serviceType) })
        isStopped.withLock { if !$0 { discovery.prioritize(services) } }
    }

    /// Returns the plugs that appear, change and disappear in `local` and the other domains. A plug that is found several
    /// times is reported once. Browsing ends when the reader stops.
    public func browse() -> PlugBrowser { PlugBrowser(services: announcements()) }

    /// Returns all announcements in `local` and the other domains. An announcement with the id of a plug may be false, so
    /// only a reader that shows plugs, and does not connect to them, may hide announcements with equal ids.
    func announcements() -> ServiceBrowser {
        discovery.browse(
            Self.serviceType, in: [DiscoveryNode.domain] + configuredDomains,
            includesRecommended: usesRecommendedDomains)
    }

    /// The domains of name servers in which plugs are searched now, in addition to `local`. Domains that the network
    /// recommends are included from the first search.
    public var domains: [Name] {
        get async {
            guard usesRecommendedDomains else { return configuredDomains }
            let recommended = await discovery.automaticDomains
            return configuredDomains + recommended.filter { !configuredDomains.contains($0) }
        }
    }

    /// Finds a plug by name. Capitalization is ignored if only one plug matches.
    ///
    /// - Parameters:
    ///   - wanted: The paired or announced name.
    ///   - time: The time limit.
    /// - Throws: ``PlugNotFound`` if no plug appeared within the time limit, ``SharedPlugName``, or
    ///   `CancellationError`.
    public func plug(_ wanted: String, within time: Duration = .seconds(3)) async throws -> Plug {
        let (name, id) = try await search(for: wanted, within: time) { directory, name in
            if case .plug(let id) = directory.owner(of: wanted) { return (name, id) }
            return directory.id(of: name).map { (name, $0) }
        }
        return Plug(name: name, id: id, client: self)
    }

    /// Finds a plug by the name that the user wrote. A paired plug that accepts a connection at the address at which it
    /// was last reached is not searched; if it does not prove its key there, the connection searches it.
    ///
    /// - Throws: ``PlugNotFound`` if no plug appeared within the time limit, ``SharedPlugName``, or
    ///   `CancellationError`.
    public func find(_ wanted: String, within time: Duration = .seconds(3)) async throws -> FoundPlug {
        if case .plug(let id) = PlugNameOwner(of: wanted, among: pairedNames() ?? [:]),
            let plug = await findAtRecentAddress(id)
        {
            return plug
        }
        return try await search(for: wanted, within: time) { directory, name in
            guard case .plug(let id) = directory.owner(of: wanted) else { return FoundPlug(name: name, id: nil) }
            return FoundPlug(name: name, id: id)
        }
    }

    /// Returns a paired plug if the address at which it was last reached accepts a connection, otherwise nil.
    private func findAtRecentAddress(_ plug: PlugID) async -> FoundPlug? {
        guard address == nil, let name = pairedNames()?[plug], let recent = paired.recentAddresses()[plug]?.address,
            await isOpen(recent)
        else { return nil }
        return FoundPlug(name: name, id: plug, recent: recent)
    }

    /// How long an address may take to accept a connection.
    private static let recentTime = TimeAmount.milliseconds(250)

    private func isOpen(_ recent: PlugAddress) async -> Bool {
        guard let address = try? SocketAddress(ipAddress: recent.host, port: Int(recent.port)) else { return false }
        return await dialer.current.dialer.isOpen(address, within: Self.recentTime, on: eventLoop)
    }

    /// Finds the announced name of a plug without regard to the names of paired plugs.
    ///
    /// - Throws: ``PlugNotFound`` if no plug appeared within the time limit, or `CancellationError`.
    public func findAnnounced(_ wanted: String, within time: Duration = .seconds(3)) async throws -> String {
        if address != nil { return wanted }
        return try await search(for: wanted, among: [:], within: time) { _, name in name }
    }

    /// The time for which a search continues after it found the plug's id only under a different name. In this time,
    /// the paired plug can appear under its own name. Otherwise a device that claims the id of a paired plug would be
    /// used whenever it is found first.
    private static let renamingGrace = Duration.milliseconds(500)

    private func search<Found: Sendable>(
        for wanted: String, among paired: [PlugID: String]? = nil, within time: Duration,
        _ found: @escaping @Sendable (PlugDirectory, String) -> Found?
    ) async throws -> Found {
        let plugs = paired ?? pairedNames() ?? [:]
        if let shared = SharedPlugName(wanted, among: plugs) { throw shared }
        let addressed = addressedDirectory(wanted, among: plugs).flatMap { directory in
            directory.match(wanted).flatMap { found(directory, $0) }
        }
        if let address {
            guard let addressed else { throw AddressOfUnpairedPlug(name: wanted, address: address) }
            return addressed
        }
        // A plug with a stored address is connected to anyway, in the local network if it answers there.
        let time = addressed == nil ? time : min(time, Self.localHeadStart)
        prioritize(Set(plugs.values).union([wanted]))
        let usual = Set((plugs.values + [wanted]).map(\.foldedPlugName))
        let (renamed, renamedSeen) = AsyncStream.makeStream(of: Void.self)
        let browsing = Task {
            var directory = PlugDirectory(wanted: wanted)
            _ = directory.prioritize(plugs, now: BootClock.now)
            var result: Found?
            for await event in announcements() {
                _ = directory.handle(event.change, now: BootClock.now)
                guard let name = directory.match(wanted), let found = found(directory, name) else { continue }
                result = found
                if usual.contains(name.foldedPlugName) { break }
                renamedSeen.yield()
            }
            return (result, directory.names)
        }
        let limit = Task {
            try await Task.sleep(for: time)
            browsing.cancel()
        }
        let grace = Task {
            for await _ in renamed {
                try await Task.sleep(for: Self.renamingGrace)
                browsing.cancel()
            }
        }
        let (result, known) = await withTaskCancellationHandler {
            await browsing.value
        } onCancel: {
            browsing.cancel()
        }
        limit.cancel()
        grace.cancel()
        try Task.checkCancellation()
        if let result = result ?? addressed { return result }
        guard case .plug(let id) = PlugNameOwner(of: wanted, among: plugs) else {
            throw PlugNotFound(name: wanted, known: known)
        }
        var absent = PlugNotFound(name: plugs[id] ?? wanted, isPaired: true, known: known)
        absent.last = self.paired.recentAddresses()[id]
        throw absent
    }

    /// The head start of `local`: another domain is asked only if `local` has no answer within this time.
    private static let localHeadStart = Duration.milliseconds(250)

    /// Resolves the plug's current addresses and port, in `local` if possible, otherwise in one of the other domains or
    /// at its stored address.
    ///
    /// - Throws: An error if no answer arrived within the time limit.
    public func resolve(_ name: String, within time: Duration = .seconds(3)) async throws -> ResolvedService {
        if let address { return try await place(name, nil, at: address) }
        let local = ServiceIdentity(name: name, type: Self.serviceType)
        let others = await domains.map { ServiceIdentity(name: name, type: Self.serviceType, domain: $0.description) }
        let stored = try addressed(name, nil)
        guard !others.isEmpty || stored != nil else { return try await discovery.resolveOnce(local, timeout: time) }
        return try await withThrowingTaskGroup(of: ResolvedService?.self) { group in
            if let stored {
                group.addTask { [self] in
                    try await Task.sleep(for: Self.localHeadStart)
                    return try? await place(name, stored.entry.id, at: stored.address)
                }
            }
            for identity in [local] + others {
                group.addTask { [discovery] in
                    if !identity.isLocal { try await Task.sleep(for: Self.localHeadStart) }
                    do {
                        return try await discovery.resolveOnce(identity, timeout: time)
                    } catch NetworkError.notFound {
                        return nil
                    }
                }
            }
            defer { group.cancelAll() }
            for try await case .some(let service) in group { return service }
            throw NetworkError.notFound(name: name, within: time)
        }
    }

    /// Follows the plug with this announced name, and resolves the name for each connection. If the plug is renamed,
    /// following continues under the new name, and its reports keep the first name.
    ///
    /// - Parameters:
    ///   - plug: The exact announced name.
    ///   - id: The only plug to follow under this name; nil for any paired plug.
    ///   - cursor: The position at which the plug's events begin; nil for no events.
    ///   - known: The last event that the caller has seen of each plug. A plug in this dictionary continues after its
    ///     event, and `cursor` applies to the other plugs.
    ///   - stateOptions: The conditions under which the plug sends its state; nil for no states.
    /// - Returns: A followed plug. If the client is stopped, the plug stops immediately.
    public func follow(
        _ plug: String, id: PlugID? = nil, after cursor: Cursor? = .now, known: [PlugID: SequenceNumber] = [:],
        stateOptions: StateOptions? = StateOptions()
    ) -> FollowedPlug {
        follow(plug, id: id, at: nil, after: cursor, known: known, stateOptions: stateOptions)
    }

    /// - Parameter recent: An address that the first connection tries before the plug is searched.
    private func follow(
        _ plug: String, id: PlugID?, at recent: PlugAddress?, after cursor: Cursor?, known: [PlugID: SequenceNumber],
        stateOptions: StateOptions?
    ) -> FollowedPlug {
        let machine = PlugFollower(
            controllerName: name, cursor: cursor, known: known, stateOptions: stateOptions,
            seed: .random(in: .min ... .max))
        let followed = FollowedPlug(name: plug, machine: machine, eventLoop: eventLoop) { [self, eventLoop] followed in
            try await connect(followed, named: await followed.announcedName, only: id, on: eventLoop)
        }
        Task { [writer, introductions = followed.introductions] in
            // The name is only for display, so a failed write is ignored.
            for await plug in introductions { try? await writer.rename(plug.plug, to: plug.names) }
        }
        network.add(followed)
        guard !isStopped.withLock({ $0 }) else {
            Task { await followed.stop() }
            return followed
        }
        Task { [writer] in
            await followed.keepKeys(in: writer)
            await followed.begin(at: recent)
            await followed.locate()
            await followed.locate(on: { [discovery] name in
                discovery.resolve(ServiceIdentity(name: name, type: Self.serviceType))
            })
        }
        return followed
    }

    /// The head start of a connection in `local`.
    private static let localConnectionHeadStart = Duration.seconds(1)

    /// Resolves the plug and connects to it, in `local` if possible. A different domain or the stored address is used
    /// if `local` has no answer or no connection within its head start: the announcement may be false or outdated,
    /// because the network changed.
    private func connect(
        _ followed: FollowedPlug, named name: String, only id: PlugID?, on eventLoop: any EventLoop
    ) async throws {
        let local = ServiceIdentity(name: name, type: Self.serviceType)
        if let id, let recent = await followed.takeRecent() {
            do {
                let service = try await place(name, id, at: recent).with(local)
                return try await connect(followed, to: service, only: id, on: eventLoop)
            } catch {
                // The plug has a different address now.
            }
        }
        if let address {
            guard let plug = try addressed(name, id ?? followed.id) else {
                throw AddressOfUnpairedPlug(name: name, address: address)
            }
            return try await connect(followed, to: plug, on: eventLoop)
        }
        let domains = await domains
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in try await connect(followed, to: local, only: id, on: eventLoop) }
            for domain in domains {
                let identity = ServiceIdentity(name: name, type: Self.serviceType, domain: domain.description)
                group.addTask { [self] in
                    try await giveHeadStart(to: local)
                    try await connect(followed, to: identity, only: id, on: eventLoop)
                }
            }
            group.addTask { [self] in
                guard let plug = try addressed(name, id ?? followed.id) else {
                    throw NetworkError.notFound(name: name, within: Self.resolveTime)
                }
                try await giveHeadStart(to: local)
                try await connect(followed, to: plug, on: eventLoop)
            }
            defer { group.cancelAll() }
            var failures: [any Error] = []
            while let result = await group.nextResult() {
                switch result {
                case .success: return
                case .failure(let error): failures.append(error)
                }
            }
            // An attempt that found the plug has the most specific reason.
            throw failures.first { !($0 is NetworkError) } ?? failures[0]
        }
    }

    private static let resolveTime = Duration.seconds(5)

    private func giveHeadStart(to local: ServiceIdentity) async throws {
        guard (try? await discovery.resolveOnce(local, timeout: Self.localHeadStart)) != nil else { return }
        try await Task.sleep(for: Self.localConnectionHeadStart)
    }

    /// Resolves the service and connects to the plug, if it is paired.
    private func connect(
        _ followed: FollowedPlug, to identity: ServiceIdentity, only id: PlugID?, on eventLoop: any EventLoop
    ) async throws {
        let service = try await discovery.resolveOnce(identity, timeout: Self.resolveTime)
        try await connect(followed, to: service, only: id, on: eventLoop)
    }

    /// Connects to the plug at its address.
    private func connect(
        _ followed: FollowedPlug, to plug: AddressedPlug, on eventLoop: any EventLoop
    ) async throws {
        let service = try await place(plug.entry.name, plug.entry.id, at: plug.address)
        try await connect(followed, to: service, only: plug.entry.id, on: eventLoop)
    }

    /// Connects to the plug at this place, if it is paired.
    private func connect(
        _ followed: FollowedPlug, to service: ResolvedService, only id: PlugID?, on eventLoop: any EventLoop
    ) async throws {
        let pinned = try entry(of: service, named: service.identity.name)
        if let id, pinned.id != id { throw PairingMismatch.another(name: service.identity.name, id: pinned.id) }
        if let words = refusal.withLock({ $0 })?(pinned) { throw KeptAway(description: words) }
        await followed.dialling(pinned.id)
        do {
            try await dialer.current.dialer.connect(
                to: service.socketAddresses, expecting: pinned.key, or: pinned.nextKey, on: eventLoop, owner: followed
            ) { $0.opened($1, to: pinned.id, nextKey: pinned.nextKey, at: service) }
            if service.identity.isLocal, let address = service.recentAddress {
                await writer.note(RecentAddress(address: address, time: .now), of: pinned.id)
            }
        } catch {
            // No address worked. Reconfirms the records, so that the next attempt has current ones.
            await discovery.reconfirm(service.identity)
            throw error
        }
    }

    /// Follows the plug that was found, and no other plug under the same name.
    public func follow(
        _ plug: FoundPlug, after cursor: Cursor? = .now, stateOptions: StateOptions? = StateOptions()
    ) -> FollowedPlug {
        follow(plug.name, id: plug.id, at: plug.recent, after: cursor, known: [:], stateOptions: stateOptions)
    }

    /// Makes each followed plug check its connection now, for example after this machine slept. A plug whose connection
    /// is lost reconnects and continues after its last event.
    public func checkConnections() async { await network.check() }

    /// Sets a filter that is evaluated before each connection. If it returns a reason, the client does not connect to
    /// the plug, and followers of the plug receive the reason.
    public func keepAway(from refusal: @escaping @Sendable (PairedPlugs.Entry) -> String?) {
        self.refusal.withLock { $0 = refusal }
    }

    private struct KeptAway: Error, CustomStringConvertible { let description: String }

    /// Stops discovery, all followed plugs and all pending requests. A plug that is followed afterwards stops
    /// immediately.
    public func stop() async {
        isStopped.withLock { $0 = true }
        await network.stop()
        await discovery.stop()
        await writer.stop()
    }
}
