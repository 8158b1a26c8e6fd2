import DNSWire
public import MulticastDNS
public import ServiceDiscovery

/// One line of `plugctl browse --json`.
public struct BrowseRecord: Encodable, Equatable, Sendable {
    /// The change: found, changed or lost.
    public var event: String
    /// The instance name (RFC 6763 section 4.1).
    public var name: String
    /// The service type, for example `_smartplug._tcp`.
    public var type: String
    /// The domain: `local`, or a domain of a name server.
    public var domain: String
    /// The name of the network interface; empty outside of `local`.
    public var interface: String
    /// The attributes. An attribute without a value has an empty text. The object is empty for a lost service.
    public var txt: [String: String]

    /// Creates the record of a change.
    ///
    /// - Parameter interfaceName: returns the name of an interface; nil if it has none.
    public init(_ change: ServiceChange, interfaceName: (InterfaceID) -> String?) {
        let identity: ServiceIdentity
        let attributes: TXTRecord?
        switch change {
        case .found(let service, txt: let record): (event, identity, attributes) = ("found", service, record)
        case .changed(let service, txt: let record): (event, identity, attributes) = ("changed", service, record)
        case .lost(let service): (event, identity, attributes) = ("lost", service, nil)
        }
        name = identity.name
        type = "\(identity.type)"
        domain = identity.domain
        interface = identity.interface.map { interfaceName($0) ?? "\($0)" } ?? ""
        txt = [:]
        for attribute in attributes?.attributes ?? [] {
            txt[attribute.key] = String(decoding: attribute.value ?? [], as: UTF8.self)
        }
    }

    /// Text for the user.
    public var text: String {
        let sign = ["found": "+", "changed": "~", "lost": "-"][event] ?? "?"
        let attributes = txt.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        return "\(sign) \(name)  (\(interface.isEmpty ? domain : interface))  \(attributes)"
    }
}

/// The output of `plugctl resolve --json`.
public struct ResolveRecord: Encodable, Equatable, Sendable {
    /// The instance name.
    public var name: String
    /// The host name of the SRV record.
    public var host: String
    /// The TCP port of the SRV record.
    public var port: UInt16
    /// The addresses. A link-local IPv6 address has its interface after a percent sign.
    public var addresses: [String]

    /// Creates the record of a resolved service.
    ///
    /// - Parameter interfaceName: returns the name of an interface; nil if it has none.
    public init(_ service: ResolvedService, interfaceName: (InterfaceID) -> String?) {
        name = service.identity.name
        host = service.hostName
        port = service.port
        addresses = service.addresses.map { entry in
            guard entry.address.family == .v6, entry.address.isLinkLocal else { return "\(entry.address)" }
            return "\(entry.address)%\(interfaceName(entry.interface) ?? "\(entry.interface)")"
        }
    }

    /// Text for the user.
    public var text: String { "\(name) is at \(host) port \(port): \(addresses.joined(separator: ", "))" }
}
