import ProtocolCore
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

    public init() {}

    public var names: [String] { identities.keys.sorted() }

    public mutating func take(_ change: ServiceChange) -> Change? {
        switch change {
        case .found(let identity, txt: _), .changed(let identity, txt: _):
            let isNew = identities[identity.name] == nil
            guard !isNew || identities.count < Self.limit else { return nil }
            identities[identity.name, default: []].insert(identity)
            return isNew ? .appeared(identity.name) : .renewed(identity.name)
        case .lost(let identity):
            guard identities[identity.name]?.remove(identity) != nil, identities[identity.name]!.isEmpty else {
                return nil
            }
            identities[identity.name] = nil
            return .disappeared(identity.name)
        }
    }

    /// The plug that a person means: the exact name, else the only one that differs in capitals alone.
    public func match(_ name: String) -> String? {
        if identities[name] != nil { return name }
        let lowercased = name.lowercased()
        let alike = identities.keys.filter { $0.lowercased() == lowercased }
        return alike.count == 1 ? alike[0] : nil
    }
}

/// No plug of that name was announced in the time given to the search.
public struct PlugNotFound: Error, Hashable, Sendable, CustomStringConvertible {
    public var name: String
    /// The plugs that were.
    public var known: [String]

    public init(name: String, known: [String]) {
        self.name = name
        self.known = known
    }

    public var description: String {
        let what = "no plug named \"\(name)\" answers"
        if known.isEmpty {
            return "\(what), and no other plug either\nhint: `plugctl browse` shows plugs as they appear"
        }
        guard let near = Suggestion.nearest(to: name, among: known) else {
            return "\(what)\nhint: these plugs do: \(list(known))"
        }
        return "\(what)\nhint: did you mean \"\(near)\"? These plugs answer: \(list(known))"
    }

    private func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }
}
