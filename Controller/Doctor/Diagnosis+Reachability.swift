import PlugModel

extension Diagnosis {
    /// Describes the registration of a plug in a domain. The plug's reason names the name server, the key, the zone's
    /// update policy or the clocks.
    static func registration(of plug: Observations.Plug) -> [Finding] {
        let name = plug.announcedAs ?? plug.name
        return switch plug.registration {
        case nil: []
        case .registered(let registered, let domain)?:
            [Finding(.ok, .plug, name, "it is registered as \"\(registered)\" in \(domain)")]
        case .failed(let domain, let reason, let hint)?:
            [Finding(.problem, .plug, name, "it is not registered in \(domain): \(reason)", next: hint)]
        }
    }

    /// Describes how hosts on the internet reach a plug that maps its port at its router. Failures are reported only if
    /// hosts cannot connect at all, because many routers map ports for one IP family only.
    static func reachability(of plug: Observations.Plug) -> [Finding] {
        let name = plug.announcedAs ?? plug.name
        let places = plug.reachability.filter { $0.publicPlace != nil }
        return (places.isEmpty ? plug.reachability : places).map { result in
            switch result {
            case .mapped(let address, let port, isPublic: true):
                Finding(
                    .ok, .plug, name, "it is reachable from the internet at \(address) port \(port)",
                    why: "map_port in its plugd.toml opens this port; only paired controllers can use the plug")
            case .mapped(let address, _, isPublic: false):
                Finding(
                    .warning, .plug, name,
                    "hosts on the internet cannot connect: its router has the private address \(address)",
                    why: "a second router is between its router and the internet",
                    next: "use one of the routers as a bridge, or a VPN")
            case .unmapped(let reason, let hint):
                Finding(.warning, .plug, name, "its port is not mapped: \(reason)", next: hint)
            }
        }
    }
}
