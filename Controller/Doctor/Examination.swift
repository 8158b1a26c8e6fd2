import HostSleep
public import LinuxNetwork
import LinuxSystem
public import Logging
import NIOCore
public import PlugClient
import PlugModel
import ProtocolCore
import ServiceDiscovery
import SleepClient
import Synchronization

/// Examines the host, its network and its plugs: the shell of ``Diagnosis``. It announces no name by multicast DNS and
/// changes no state.
public struct Examination: Sendable {
    /// The limit of plugs that are contacted at the same time.
    static let width = 16

    let client: PlugClient
    let filter: InterfaceFilter
    let wait: Duration
    let logger: Logger

    /// Creates an examination.
    ///
    /// - Parameters:
    ///   - client: the client, which must use the interfaces of `filter`.
    ///   - filter: the interfaces to examine.
    ///   - wait: the time for collecting announcements, and the time limit for a plug's answer.
    ///   - logger: logs faults of the examination itself.
    public init(client: PlugClient, filter: InterfaceFilter, wait: Duration, logger: Logger) {
        self.client = client
        self.filter = filter
        self.wait = wait
        self.logger = logger
    }

    /// Examines everything. The collection of announcements takes `wait`. The services and then the plugs are contacted
    /// 16 at a time, each for up to `wait`.
    ///
    /// - Parameters:
    ///   - paired: the plugs to contact.
    ///   - controllerFault: the reason why the paired plugs are unknown or cannot be contacted; no plug is contacted
    ///     then.
    public func observe(paired: [PairedPlugs.Entry], controllerFault: String?) async -> Observations {
        let first = ClockState.now
        let listener = PacketListener(interfaces: filter, on: client.eventLoop, logger: logger)
        async let interfaces = interfaces()
        async let proxies = sleepProxies()
        async let domains = domains()
        async let heard = HeardHosts.collect(listener.packets)
        let announced = await announcements()
        let services = await services(announced, paired)
        let plugs = controllerFault == nil ? await reach(paired, announced) : []
        let known = await interfaces
        var links = await links(listener, known)
        let portHolders = PortHolder.others(ofPort: 5353)
        await listener.stop()
        await heard.note(in: &links, of: known)
        var seen = Observations(filter: filter, clock: .init(first: first, last: .now), wait: wait)
        (seen.interfaces, seen.links, seen.portHolders) = (known, links.map(\.link), portHolders)
        seen.domains = await domains
        (seen.services, seen.plugs, seen.controllerFault) = (services, plugs, controllerFault)
        seen.sleep = Observations.Sleep(proxies: await proxies, fault: await SuspendMonitor.fault())
        return seen
    }

    /// Returns the current interfaces; empty if the kernel does not report them.
    private func interfaces() async -> [LinuxInterface] {
        do {
            for try await list in InterfaceMonitor.interfaces(.every, on: client.eventLoop) { return list }
        } catch {
            logger.error("\(error)")
        }
        return []
    }

    private func domains() async -> [Observations.Domain] {
        await concurrently(await client.domains) { domain in
            let state = await client.discovery.state(of: domain, listing: PlugClient.serviceType)
            return Observations.Domain(name: "\(domain)", state: state)
        }
    }

    private func links(_ listener: PacketListener, _ interfaces: [LinuxInterface]) async -> [ObservedLink] {
        let (places, faults) = (await listener.places, await listener.faults)
        let memberships = GroupMemberships.current()
        return places.compactMap { place in
            guard let interface = interfaces.first(where: { UInt32(bitPattern: $0.index) == place.interface }) else {
                return nil
            }
            var link = Observations.Link(interface: interface.name, family: place.family)
            link.isLoopback = interface.flags.contains(.loopback)
            link.fault = faults[place]
            link.isMember = memberships.map { $0.members[place.family, default: []].contains(interface.name) }
            return ObservedLink(place: place, link: link)
        }.sorted {
            ($0.link.interface, $0.place.family == .v6 ? 1 : 0) < ($1.link.interface, $1.place.family == .v6 ? 1 : 0)
        }
    }

    // MARK: Plugs

    struct Announcement: Sendable {
        var interfaces: Set<String> = []
        var txt: TXTRecord?

        var id: PlugID? { txt?["id"].flatMap(PlugID.init(rawValue:)) }
    }

    /// The maximum number of announcements. Prevents forged names from filling the memory.
    private static let mostAnnouncements = 1024

    private func announcements() async -> [String: Announcement] {
        let browsing = Task {
            var found: [String: Announcement] = [:]
            for await event in client.browse() {
                switch event.change {
                case .found(let identity, let txt), .changed(let identity, let txt):
                    guard found[identity.name] != nil || found.count < Self.mostAnnouncements else { continue }
                    let interface = identity.interface.map { interfaceName($0) ?? "\($0)" }
                    found[identity.name, default: Announcement()].interfaces.formUnion(interface.map { [$0] } ?? [])
                    if let txt { found[identity.name]?.txt = txt }
                case .lost(let identity): found[identity.name] = nil
                }
            }
            return found
        }
        try? await Task.sleep(for: wait)
        browsing.cancel()
        return await browsing.value
    }

    /// Returns the sleep proxies that answer within `wait`.
    private func sleepProxies() async -> [FoundSleepProxy] {
        let found = Mutex<[FoundSleepProxy]>([])
        let browsing = Task { [client] in
            await SleepProxyBrowser(client.discovery).run { proxies in found.withLock { $0 = proxies } }
        }
        try? await Task.sleep(for: wait)
        browsing.cancel()
        await browsing.value
        return found.withLock { $0 }
    }

    private func services(
        _ announced: [String: Announcement], _ paired: [PairedPlugs.Entry]
    ) async -> [Observations.Service] {
        await concurrently(announced.sorted { $0.key < $1.key }) { name, announcement in
            let found = try? await client.resolve(name, within: wait)
            return Observations.Service(
                name: name, interfaces: announcement.interfaces.sorted(), id: announcement.id,
                version: announcement.txt?["pv"], isPaired: paired.contains { $0.id == announcement.id },
                place: found.map { .init(host: $0.hostName, port: $0.port, addresses: $0.addresses.map(\.address)) })
        }
    }

    private func reach(
        _ paired: [PairedPlugs.Entry], _ announced: [String: Announcement]
    ) async -> [Observations.Plug] {
        await concurrently(paired) { entry in
            // If two plugs announce the same id, the one with the stored name is contacted.
            let names = announced.filter { $0.value.id == entry.id }.keys.sorted()
            // If no announcement has the id, the stored name is tried, provided that it is announced. Otherwise the
            // plug is absent.
            let name =
                names.first { $0 == entry.name } ?? names.first ?? (announced[entry.name] == nil ? nil : entry.name)
            let (outcome, plug) = if let name { await reach(name) } else { (Observations.Plug.Outcome.absent, nil) }
            return Observations.Plug(
                name: entry.name, id: entry.id, announcedAs: name, outcome: outcome, crash: plug?.crash,
                reachability: plug?.reachability ?? [], registration: plug?.registration)
        }
    }

    private typealias Answer = (outcome: Observations.Plug.Outcome, plug: PlugDescription?)

    private func reach(_ name: String) async -> Answer {
        let plug = client.follow(name, after: nil)
        let limit = Task {
            try await Task.sleep(for: wait)
            await plug.stop()
        }
        let answer = await answer(of: plug)
        limit.cancel()
        await plug.stop()
        return answer
    }

    private func answer(of plug: FollowedPlug) async -> Answer {
        var last = Observations.Plug.Outcome.silent
        var known: PlugDescription?
        for await report in plug.reports {
            switch report.update {
            case .connected(let description):
                last = .connected(roundTrip: nil)
                known = description
            case .snapshot(let state):
                let asked = BootClock.now
                // A rejection also shows that the plug answers.
                let isAnswered: Bool
                do { isAnswered = try await plug.controllers() != nil } catch { isAnswered = true }
                let roundTrip = isAnswered ? BootClock.now - asked : nil
                return (.connected(roundTrip: roundTrip, tripped: state.tripped), known)
            case .disconnected(.away(let words), _):
                if case .connected = last { return (last, known) }
                last = .away(words)
            case .disconnected(.incompatible(let words), _): return (.incompatible(words), known)
            case .disconnected(.distrusted(let words), _): return (.distrusted(words), known)
            case .following, .state, .event, .gap, .log: break
            }
        }
        return (last, known)
    }

    /// Returns the results in the order of the elements.
    private func concurrently<Element: Sendable, Result: Sendable>(
        _ elements: [Element], _ work: @escaping @Sendable (Element) async -> Result
    ) async -> [Result] {
        await withTaskGroup(of: (Int, Result).self) { group in
            var results: [Int: Result] = [:]
            for (index, element) in elements.enumerated() {
                if index >= Self.width, let (done, result) = await group.next() { results[done] = result }
                group.addTask { (index, await work(element)) }
            }
            for await (done, result) in group { results[done] = result }
            return elements.indices.compactMap { results[$0] }
        }
    }
}
