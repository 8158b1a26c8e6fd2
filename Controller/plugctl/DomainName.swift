import ArgumentParser
import DNSWire
import PlugClient
import ServiceDiscovery

/// A domain of a name server: the argument of `--domain`.
struct DomainName: ExpressibleByArgument {
    let name: Name

    /// Fails if the text is not a domain name, or too long for the names of plugs in this domain.
    init?(argument: String) {
        let longest = ServiceIdentity(
            name: String(repeating: "x", count: Name.labelLimit), type: PlugClient.serviceType, domain: argument)
        guard let name = try? Name(presentation: argument), name != .root, (try? longest.instanceName()) != nil else {
            return nil
        }
        self.name = name
    }
}
