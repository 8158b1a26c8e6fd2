public import DNSWire
import ProtocolCore

/// A service type such as `_smartplug._tcp`, or one of its subtypes, `_dimmer._sub._smartplug._tcp` (RFC 6763 §7).
public struct ServiceType: Hashable, Sendable, CustomStringConvertible {
    /// The transport protocol of a service.
    public enum Transport: String, Hashable, Sendable {
        case tcp = "_tcp"
        /// UDP, and every other transport that is not TCP (RFC 6763 §7).
        case udp = "_udp"
    }

    /// The service name with its underscore.
    public let service: String
    /// The transport protocol.
    public let transport: Transport
    /// The subtype; nil for the whole type.
    public let subtype: String?

    /// Parses `_service._tcp` or `_service._udp`, optionally after `_subtype._sub.`.
    public init(_ text: String) throws(ServiceDiscoveryError) {
        var labels = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var subtype: String?
        if labels.count > 2, labels[labels.count - 3].lowercased() == RFC6763.subtypeLabel {
            subtype = labels.prefix(labels.count - 3).joined(separator: ".").precomposed
            labels.removeFirst(labels.count - 2)
            guard let subtype, (1...RFC6763.instanceNameLimit).contains(subtype.utf8.count) else {
                throw .subtypeLength
            }
        }
        guard labels.count == 2, let transport = Transport(rawValue: labels[1].lowercased()) else {
            throw .notAType(text)
        }
        self.transport = transport
        self.subtype = subtype
        service = labels[0]
        try Self.check(service)
    }

    /// Checks a service name (RFC 6335 §5.1).
    private static func check(_ service: String) throws(ServiceDiscoveryError) {
        guard service.hasPrefix("_") else { throw .missingUnderscore(service) }
        let name = Array(service.utf8.dropFirst())
        guard (1...RFC6763.serviceNameLimit).contains(name.count) else { throw .serviceNameLength(name.count) }
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) }
        let isAllowed = { (byte: UInt8) in isLetter(byte) || (0x30...0x39).contains(byte) || byte == 0x2D }
        guard name.allSatisfy(isAllowed), name.contains(where: isLetter), name.first != 0x2D, name.last != 0x2D else {
            throw .serviceNameCharacters(service)
        }
    }

    /// The type without a subtype, as in a service's identity.
    public var base: ServiceType { ServiceType(service: service, transport: transport, subtype: nil) }

    /// Creates the type of this name, or returns nil if the name is not a type in the domain.
    init?(name: Name, domain: Name) {
        guard let transport = name.parent, transport.parent == domain,
            let type = try? ServiceType(
                String(decoding: name.firstLabel, as: UTF8.self) + "."
                    + String(decoding: transport.firstLabel, as: UTF8.self))
        else { return nil }
        self = type
    }

    private init(service: String, transport: Transport, subtype: String?) {
        self.service = service
        self.transport = transport
        self.subtype = subtype
    }

    /// Returns the type with a subtype.
    ///
    /// - Throws: ``ServiceDiscoveryError/subtypeLength`` if the label is empty or has more than 63 bytes.
    package func subtype(_ label: String) throws(ServiceDiscoveryError) -> ServiceType {
        guard (1...RFC6763.instanceNameLimit).contains(label.utf8.count) else { throw .subtypeLength }
        return ServiceType(service: service, transport: transport, subtype: label)
    }

    public var description: String {
        (subtype.map { "\($0).\(RFC6763.subtypeLabel)." } ?? "") + service + "." + transport.rawValue
    }

    /// Returns the name to browse: type and domain (RFC 6763 §4).
    public func name(in domain: Name) throws(NameError) -> Name {
        let sub = subtype.map { [$0, RFC6763.subtypeLabel] } ?? []
        return try Name(labels: (sub + [service, transport.rawValue]).map { Array($0.utf8)[...] } + domain.labels)
    }
}

extension ServiceType: ExpressibleByStringLiteral {
    /// A literal that is not a valid type is a programming error and traps. Use literals for constants only.
    public init(stringLiteral text: String) {
        do {
            try self.init(text)
        } catch {
            preconditionFailure("\"\(text)\" is not a service type: \(error)")
        }
    }
}
