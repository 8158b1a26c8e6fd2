public import LinuxNetwork
import MulticastDNS
import ServiceDiscovery
public import SleepClient

/// Finds the sleep proxies on all links.
public actor SleepProxyBrowser {
    /// The limit of proxies. It prevents forged announcements from filling the memory; a house has one per plug.
    private static let most = 64

    private let discovery: Discovery
    private var proxies: [ServiceIdentity: [FoundSleepProxy]] = [:]
    private var resolving: [ServiceIdentity: Task<Void, Never>] = [:]

    /// Creates a browser.
    public init(_ discovery: Discovery) { self.discovery = discovery }

    /// Browses until the task is cancelled.
    ///
    /// - Parameter changed: called with all current proxies, best first, after each change.
    public func run(_ changed: @escaping @Sendable ([FoundSleepProxy]) async -> Void) async {
        for await event in discovery.browse(SleepProxyName.serviceType) {
            switch event.change {
            case .found(let identity, _): resolve(identity, changed)
            case .changed: break
            case .lost(let identity):
                resolving.removeValue(forKey: identity)?.cancel()
                proxies[identity] = nil
                await changed(all)
            }
        }
        for task in resolving.values { task.cancel() }
        (resolving, proxies) = ([:], [:])
    }

    private func resolve(
        _ identity: ServiceIdentity, _ changed: @escaping @Sendable ([FoundSleepProxy]) async -> Void
    ) {
        guard let name = SleepProxyName(identity.name), resolving[identity] == nil, resolving.count < Self.most else {
            return
        }
        resolving[identity] = Task { [discovery] in
            for await resolution in discovery.resolve(identity) {
                set(identity, name, resolution)
                await changed(all)
            }
        }
    }

    private func set(_ identity: ServiceIdentity, _ name: SleepProxyName, _ resolution: Resolution) {
        guard resolving[identity] != nil else { return }
        switch resolution {
        case .resolved(let service):
            proxies[identity] = service.addresses.map {
                let peer = Peer(address: $0.address, port: service.port)
                return FoundSleepProxy(name: name, peer: peer, interface: identity.interface ?? $0.interface)
            }
        case .gone: proxies[identity] = nil
        }
    }

    private var all: [FoundSleepProxy] { FoundSleepProxy.sorted(proxies.values.flatMap(\.self)) }
}
