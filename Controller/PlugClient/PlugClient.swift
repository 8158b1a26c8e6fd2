import DNSWire
import LinuxClocks
public import LinuxNetwork
public import Logging
public import NIOCore
import NIOPosix
public import PlugModel
public import PlugTransport
import ProtocolCore
public import ServiceDiscovery
import Synchronization

/// The controller's end of the house: finds plugs, follows them and commands them.
///
/// ```swift
/// let client = PlugClient(name: "kitchen tablet", identity: try .ofThisController(), logger: logger)
/// let lamp = try await client.plug("Living Room Lamp")
/// try await lamp.turn(on: true)
/// await client.stop()
/// ```
public final class PlugClient: Sendable {
    public static let serviceType: ServiceType = "_smartplug._tcp"

    public let discovery: Discovery
    /// Everything of this client runs on it.
    public let eventLoop: any EventLoop
    let name: String
    /// The event loop of all clients in this process. It never ends, since actors, streams and timers of a client may schedule work on it
    /// after the client has stopped: a reader that ends later, for example, ends its browse there.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let dialer: RenewedDialer
    let paired: PairedPlugs
    private let writer: PairedPlugsWriter
    private let network: FollowedNetwork
    private let isStopped = Mutex(false)
    private let refusal = Mutex<(@Sendable (PairedPlugs.Entry) -> String?)?>(nil)

    /// - Parameters:
    ///   - name: what a person calls this controller, at most 63 bytes; plugs show it as the cause of its commands.
    ///   - identity: what it proves itself with.
    ///   - renewed: this controller's key as it is now, asked before each connection; nil where it never changes, or nobody can say.
    ///   - paired: the plugs that it knows; with no other anything but pairing is spoken of.
    ///   - keyLog: gets the secrets of every connection, for packet traces.
    ///   - interfaces: names of the network interfaces to use; empty for all that can multicast.
    ///   - logger: for what happens below.
    public init(
        name: String, identity: TransportIdentity, renewed: @escaping @Sendable () -> TransportIdentity? = { nil },
        paired: PairedPlugs = PairedPlugs(), keyLog: KeyLog? = nil,
        interfaces: Set<String> = [], logger: Logger
    ) {
        self.name = name
        self.paired = paired
        writer = PairedPlugsWriter(paired)
        dialer = RenewedDialer(identity, keyLog: keyLog, renewed: renewed)
        eventLoop = Self.loops.next()
        let filter = interfaces.isEmpty ? InterfaceFilter.multicastCapable : .named(interfaces)
        discovery = Discovery(interfaces: filter, on: eventLoop, logger: logger)
        network = FollowedNetwork(filter, on: eventLoop)
        favour(Set((pairedNames() ?? [:]).values))
    }

    /// Those that it is paired with, as ``PairedPlugs/names()``; nil where that cannot be read now.
    func pairedNames() -> [PlugID: String]? { try? paired.names() }

    /// Plugs of these names are found and reached, whatever others announce.
    func favour(_ names: Set<String>) {
        let services = Set(names.map { ServiceIdentity(name: $0, type: Self.serviceType) })
        isStopped.withLock { if !$0 { discovery.favour(services) } }
    }

    /// Plugs as they come, change and go; ends when the reader stops.
    public func browse() -> ServiceBrowser { discovery.browse(Self.serviceType) }

    /// The plug that a person means, by its announced name; capitals do not matter where only one plug is meant.
    ///
    /// - Throws: ``PlugNotFound`` when none has appeared within the time, ``SharedPlugName``, or `CancellationError`.
    public func plug(_ wanted: String, within time: Duration = .seconds(3)) async throws -> Plug {
        let (name, id) = try await search(for: wanted, within: time) { directory, name in
            if case .plug(let id) = directory.owner(of: wanted) { return (name, id) }
            return directory.id(of: name).map { (name, $0) }
        }
        return Plug(name: name, id: id, client: self)
    }

    /// The announced name of the plug that a person means, and its id if a paired plug has the name.
    ///
    /// - Throws: ``PlugNotFound`` when none has appeared within the time, ``SharedPlugName``, or `CancellationError`.
    public func find(_ wanted: String, within time: Duration = .seconds(3)) async throws -> FoundPlug {
        try await search(for: wanted, within: time) { directory, name in
            guard case .plug(let id) = directory.owner(of: wanted) else { return FoundPlug(name: name, id: nil) }
            return FoundPlug(name: name, id: id)
        }
    }

    /// The same by announced names alone, whatever the plugs that are paired are called.
    public func findAnnounced(_ wanted: String, within time: Duration = .seconds(3)) async throws -> String {
        try await search(for: wanted, among: [:], within: time) { _, name in name }
    }

    private func search<Found: Sendable>(
        for wanted: String, among paired: [PlugID: String]? = nil, within time: Duration,
        _ found: @escaping @Sendable (PlugDirectory, String) -> Found?
    ) async throws -> Found {
        let plugs = paired ?? pairedNames() ?? [:]
        if let shared = SharedPlugName(wanted, among: plugs) { throw shared }
        favour(Set(plugs.values).union([wanted]))
        let browsing = Task {
            var directory = PlugDirectory(wanted: wanted)
            _ = directory.favour(plugs, now: BootClock.now)
            for await event in browse() {
                _ = directory.take(event.change, now: BootClock.now)
                if let name = directory.match(wanted), let found = found(directory, name) {
                    return (found as Found?, directory.names)
                }
            }
            return (nil, directory.names)
        }
        let limit = Task {
            try await Task.sleep(for: time)
            browsing.cancel()
        }
        let (result, known) = await withTaskCancellationHandler {
            await browsing.value
        } onCancel: {
            browsing.cancel()
        }
        limit.cancel()
        try Task.checkCancellation()
        guard let result else { throw PlugNotFound(name: wanted, known: known) }
        return result
    }

    /// Where the plug is now.
    ///
    /// - Throws: when it did not answer within the time.
    public func resolve(_ name: String, within time: Duration = .seconds(3)) async throws -> ResolvedService {
        try await discovery.resolveOnce(ServiceIdentity(name: name, type: Self.serviceType), timeout: time)
    }

    /// Follows the plug of that announced name; resolves it anew for each connection. One that takes another name while it is
    /// connected, or is reached although it took one before, is followed under that, and its reports go on under the first.
    ///
    /// - Parameters:
    ///   - plug: its announced name, exactly.
    ///   - id: the only plug that is followed under this name; nil for any that is paired.
    ///   - cursor: where its events begin; nil for no events.
    ///   - known: the last event seen of plugs by their id, which goes before `cursor`: whichever plug bears the name goes on
    ///     where it was left.
    ///   - stateOptions: how often a reading is worth sending; nil for no states.
    public func follow(
        _ plug: String, id: PlugID? = nil, after cursor: Cursor? = .now, known: [PlugID: SequenceNumber] = [:],
        stateOptions: StateOptions? = StateOptions()
    ) -> FollowedPlug {
        let machine = PlugFollower(
            controllerName: name, cursor: cursor, known: known, stateOptions: stateOptions,
            seed: .random(in: .min ... .max))
        let followed = FollowedPlug(name: plug, machine: machine, eventLoop: eventLoop) { [self, eventLoop] followed in
            let name = await followed.announcedName
            let service = try await resolve(name, within: .seconds(5))
            let pinned = try entry(of: service, named: name)
            if let id, pinned.id != id { throw Distrust.another(name: name, id: pinned.id) }
            if let words = refusal.withLock({ $0 })?(pinned) { throw KeptAway(description: words) }
            await followed.expect(pinned.id, nextKey: pinned.nextKey)
            do {
                try await dialer.current.dialer.connect(
                    to: service.socketAddresses, expecting: pinned.key, or: pinned.nextKey, on: eventLoop,
                    owner: followed)
            } catch {
                // The records led nowhere: have them confirmed, so that the next attempt finds better ones.
                await discovery.reconfirm(service.identity)
                throw error
            }
        }
        Task { [writer, introductions = followed.introductions] in
            // The name is for people: that it cannot be written changes nothing.
            for await plug in introductions { try? await writer.rename(plug.plug, to: plug.names) }
        }
        network.add(followed)
        guard !isStopped.withLock({ $0 }) else {
            Task { await followed.stop() }
            return followed
        }
        Task { [writer] in
            await followed.keepKeys(in: writer)
            await followed.locate()
            await followed.locate(on: { [discovery] name in
                discovery.resolve(ServiceIdentity(name: name, type: Self.serviceType))
            })
        }
        return followed
    }

    /// Follows the plug that was found, and no other one that is announced under its name.
    public func follow(
        _ plug: FoundPlug, after cursor: Cursor? = .now, stateOptions: StateOptions? = StateOptions()
    ) -> FollowedPlug {
        follow(plug.name, id: plug.id, after: cursor, stateOptions: stateOptions)
    }

    /// Plugs for which this gives a reason are not connected to; whoever follows them is told it. It is asked before each connection.
    public func keepAway(from refusal: @escaping @Sendable (PairedPlugs.Entry) -> String?) {
        self.refusal.withLock { $0 = refusal }
    }

    private struct KeptAway: Error, CustomStringConvertible { let description: String }

    /// Ends everything that goes on with it: what is followed, waited for or browsed. What is followed afterwards ends at once.
    public func stop() async {
        isStopped.withLock { $0 = true }
        await network.stop()
        await discovery.stop()
        await writer.stop()
    }
}

extension ResolvedService {
    /// With the interface as the scope of link-local IPv6 addresses.
    var socketAddresses: [SocketAddress] {
        addresses.compactMap { entry in
            let isScoped = entry.address.family == .v6 && entry.address.isLinkLocal
            return try? SocketAddress(
                packedIPAddress: ByteBuffer(bytes: entry.address.bytes), port: Int(port)
            ).scoped(isScoped ? entry.interface : 0)
        }
    }
}

extension SocketAddress {
    fileprivate func scoped(_ interface: UInt32) -> SocketAddress {
        guard case .v6(let address) = self, interface != 0 else { return self }
        var raw = address.address
        raw.sin6_scope_id = interface
        return SocketAddress(raw, host: address.host)
    }
}
