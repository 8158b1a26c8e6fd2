public import PlugModel
public import ServiceDiscovery

/// The plugs that are announced now, by name. One that is announced on several interfaces is one plug.
public struct PlugDirectory: Sendable {
    public enum Change: Hashable, Sendable {
        case appeared(String)
        /// Announced anew, or on a further interface: worth another try to reach it.
        case renewed(String)
        case disappeared(String)
    }

    /// Plugs known at the same time. Stops a network of ever new names from filling the memory.
    static let limit = 1024

    private var identities: [String: Set<ServiceIdentity>] = [:]
    private var ids: [String: PlugID] = [:]

    public init() {}

    public var names: [String] { identities.keys.sorted() }

    func contains(_ name: String) -> Bool { identities[name] != nil }

    public mutating func take(_ change: ServiceChange) -> Change? {
        switch change {
        case .found(let identity, let txt), .changed(let identity, let txt):
            let isNew = identities[identity.name] == nil
            guard !isNew || identities.count < Self.limit else { return nil }
            identities[identity.name, default: []].insert(identity)
            // The TXT record may come after the name.
            if let id = txt?.plugID { ids[identity.name] = id }
            return isNew ? .appeared(identity.name) : .renewed(identity.name)
        case .lost(let identity):
            guard identities[identity.name]?.remove(identity) != nil, identities[identity.name]!.isEmpty else {
                return nil
            }
            identities[identity.name] = nil
            ids[identity.name] = nil
            return .disappeared(identity.name)
        }
    }

    /// The plug's own id, once it was announced.
    public func id(of name: String) -> PlugID? { ids[name] }

    /// The plug that a person means: the exact name, else the only one that differs in capitals alone.
    public func match(_ name: String) -> String? {
        if identities[name] != nil { return name }
        let lowercased = name.lowercased()
        let alike = identities.keys.filter { $0.lowercased() == lowercased }
        return alike.count == 1 ? alike[0] : nil
    }
}

extension TXTRecord {
    var plugID: PlugID? { self["id"].flatMap(PlugID.init(rawValue:)) }
}
