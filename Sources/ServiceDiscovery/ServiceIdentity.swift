public import DNSWire
public import MulticastDNS
import ProtocolCore

/// What makes a service the same service: its instance name, type and domain, and the interface it was seen on.
public struct ServiceIdentity: Hashable, Sendable {
    /// Any UTF-8 text of 1 to 63 bytes, as a person says it; in a result, as the service has it.
    public var name: String
    public var type: ServiceType
    public var domain: String
    /// Always there in results; nil in a request means whichever interface has it.
    public var interface: InterfaceID?

    /// The name is brought into normalization form C, as every service should have it.
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

    /// The identity of an instance below a type; nil when its label is not the UTF-8 that RFC 6763 §4.1.1 asks for.
    init?(instance: Name, type: ServiceType, domain: Name, interface: InterfaceID) {
        guard let name = String(validating: instance.firstLabel, as: UTF8.self), !name.isEmpty else { return nil }
        self.init(name: name, type: type, domain: domain.description, interface: interface)
        // A peer whose name is not in that form is found under the bytes that it sent.
        self.name = name
    }
}
