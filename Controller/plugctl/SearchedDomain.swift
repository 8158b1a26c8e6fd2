import ArgumentParser
import DNSWire
import PlugClient
import ServiceDiscovery

/// The argument of `--domain`.
enum SearchedDomain: Hashable, ExpressibleByArgument {
    /// A domain of a name server.
    case named(Name)
    /// The domains that the network recommends: the argument "auto".
    case recommended

    /// Fails if the text is not a domain name, or too long for the names of plugs in this domain.
    init?(argument: String) {
        if argument == "auto" {
            self = .recommended
            return
        }
        let longest = ServiceIdentity(
            name: String(repeating: "x", count: Name.labelLimit), type: PlugClient.serviceType, domain: argument)
        guard let name = try? Name(presentation: argument), name != .root, (try? longest.instanceName()) != nil else {
            return nil
        }
        self = .named(name)
    }

    /// The domain; nil for the recommended ones.
    var name: Name? { if case .named(let name) = self { name } else { nil } }
}
