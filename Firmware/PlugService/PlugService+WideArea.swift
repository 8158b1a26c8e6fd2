import DNSWire
import JSONText
import LinuxNetwork
import PlugModel
import ServiceDiscovery
import UnicastDNS

/// Registers the plug in a domain of a name server, if one is configured.
extension PlugService {
    /// Registers the plug, or changes its name in the domain.
    func register(in settings: DomainSettings?, as name: String, _ discovery: Discovery) async {
        guard let settings,
            var service = try? service(named: name, hostName: "plug-" + machine.identity.id.rawValue)
        else { return }
        // The pairing window concerns only the local network.
        service.txt.remove("pair")
        if let domain { return await domain.update(service) }
        domain = DomainRegistrar(
            service, settings,
            key: settings.registrationKey(storedIn: self.settings.directories.registrationKey, logger),
            discovery: discovery, logger: logger
        ) { [weak self] in
            self?.assumeIsolated { service in
                service.handle(.reachability(service.reachability))
                service.handle(.registration(service.registration))
            }
        }
    }

    /// The registration in the domain; nil without an answer.
    private var registration: DomainRegistration? {
        guard let domain, let settings = settings.wideArea else { return nil }
        let name = "\(settings.domain)"
        return switch domain.assumeIsolated({ $0.state }) {
        case .waiting: nil
        case .registered(let plug): .registered(name: plug, domain: name)
        case .failed(let failure): .failed(domain: name, reason: "\(failure)", hint: failure.hint)
        }
    }

    /// The results of mapping the port in IPv4, and of opening it in IPv6 if the network has IPv6.
    private var reachability: [Reachability] {
        guard let (mapping, pinhole) = domain?.assumeIsolated({ ($0.mapping, $0.pinhole) }) else { return [] }
        let open = pinhole == .failed(.noRouter) ? nil : pinhole
        return [mapping.flatMap { Reachability($0, over: .v4) }, open.flatMap { Reachability($0, over: .v6) }]
            .compactMap(\.self)
    }

    /// Removes the plug from the domain.
    func leaveDomain() async {
        guard let domain else { return }
        await domain.stop()
        handle(.reachability([]))
        handle(.registration(nil))
    }

    /// The value of `wide_area` in `plugd status`, or nil if no domain is configured.
    var domainStatus: JSONObject? {
        guard let settings = settings.wideArea else { return nil }
        var status = JSONObject()
        status.add("domain", "\(settings.domain)")
        switch domain?.assumeIsolated({ $0.state }) {
        case .registered(let name): status.add("name", name)
        case .failed(let failure): status.add("reason", "\(failure)")
        case .waiting:
            status.add("reason", "the plug has no address that is valid beyond one link, or waits for the server")
        case nil: status.add("reason", "the plug is off the network")
        }
        if let mapping = domain?.assumeIsolated({ $0.mapping }) { status.add("mapping", mapping.json(over: .v4)) }
        if let pinhole = domain?.assumeIsolated({ $0.pinhole }) { status.add("pinhole", pinhole.json(over: .v6)) }
        return status
    }
}

extension MappedPort.State {
    fileprivate func json(over family: IPFamily) -> JSONObject {
        var status = JSONObject()
        switch self {
        case .waiting: status.add("reason", "the router has not answered yet")
        case .mapped(let mapping):
            status.add("address", "\(mapping.address)")
            status.add("port", Int(mapping.port))
            status.add("public", mapping.isPublic)
        case .failed(let failure): status.add("reason", failure.reason(over: family))
        }
        return status
    }
}

extension Reachability {
    /// Returns nil while the router has not answered.
    fileprivate init?(_ state: MappedPort.State, over family: IPFamily) {
        switch state {
        case .waiting: return nil
        case .mapped(let mapping):
            self = .mapped(address: "\(mapping.address)", port: mapping.port, isPublic: mapping.isPublic)
        case .failed(let failure):
            self = .unmapped(reason: failure.reason(over: family), hint: failure.hint(over: family))
        }
    }
}
