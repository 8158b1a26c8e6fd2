public import DNSWire
public import MulticastDNS
import ProtocolCore

/// The properties that identify a service: its instance name, type and domain, and the interface on which it was seen.
public struct ServiceIdentity: Hashable, Sendable {
    /// UTF-8 text of 1 to 63 bytes. In a request, the user's spelling; in a result, the spelling of the service.
    public var name: String
    /// The service type, without a subtype.
    public var type: ServiceType
    /// The domain as text, such as "local".
    public var domain: String
    /// The interface. Results in `local` have one; nil in a request means any interface.
    public var interface: InterfaceID?

    /// True if the domain is that of multicast DNS.
    public var isLocal: Bool { (try? Name(presentation: domain)) == DiscoveryNode.domain }

    /// Creates an identity and normalizes the name to form C, because services should announce their names in that
    /// form.
    public init(name: String, type: ServiceType, domain: String = "local", interface: InterfaceID? = nil) {
        self.name = name.precomposed
        self.type = type.base
        self.domain = domain
        self.interface = interface
    }

    /// The service instance name (RFC 6763 §4.1).
    public func instanceName() throws(NameError) -> Name {
        try type.name(in: Name(presentation: domain)).prepending(label: Array(name.utf8))
    }

    /// Creates the identity of an instance of a type, or returns nil if its label is not valid UTF-8 (RFC 6763 §4.1.1).
    package init?(instance: Name, type: ServiceType, domain: Name, interface: InterfaceID?) {
        guard let name = String(validating: instance.firstLabel, as: UTF8.self), !name.isEmpty else { return nil }
        self.init(name: name, type: type, domain: domain.description, interface: interface)
        // A peer's name that is not normalized keeps its bytes, because queries compare bytes.
        self.name = name
    }
}
