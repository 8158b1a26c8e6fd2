/// The paired plug that a written name refers to.
///
/// An exact match refers to that plug. A name that differs only in case refers to a plug if no other plug matches it. A
/// name of a paired plug never refers to a different plug, even while the paired plug is not reachable.
public enum PlugNameOwner: Hashable, Sendable {
    /// The name refers to this plug.
    case plug(PlugID)
    /// The name matches several plugs, but no plug exactly. The ids are sorted.
    case ambiguous([PlugID])
    /// The name matches no paired plug.
    case unknown

    /// Resolves a name among paired plugs.
    ///
    /// - Parameters:
    ///   - written: the name that the user wrote.
    ///   - paired: the names by id, as in ``PairedNames/init(_:)``.
    public init(of written: String, among paired: [PlugID: String]) { self = PairedNames(paired).owner(of: written) }
}

/// The names of all paired plugs, indexed for repeated look-ups.
public struct PairedNames: Hashable, Sendable {
    /// The name of each plug by its id.
    public let names: [PlugID: String]
    private let exact: [String: [PlugID]]
    private let folded: [String: [PlugID]]
    /// The case-folded names that several plugs share, without the distinguishing ids.
    private let shared: Set<String>

    /// Indexes the names.
    ///
    /// - Parameter names: the names by id. Plugs with the same name are distinguished as by
    ///   ``PlugID/distinguishing(_:)``.
    public init(_ names: [PlugID: String] = [:]) {
        self.names = names
        exact = Dictionary(grouping: names.keys) { names[$0] ?? "" }
        var folded: [String: [PlugID]] = [:]
        var shared: Set<String> = []
        for (id, name) in names {
            folded[name.foldedPlugName, default: []].append(id)
            guard let common = id.shared(in: name)?.foldedPlugName else { continue }
            folded[common, default: []].append(id)
            shared.insert(common)
        }
        (self.folded, self.shared) = (folded, shared)
    }

    /// Returns the plug that a written name refers to.
    public func owner(of written: String) -> PlugNameOwner {
        if let own = exact[written], own.count == 1 { return .plug(own[0]) }
        let wanted = written.foldedPlugName
        guard let alike = folded[wanted] else { return .unknown }
        if alike.count == 1, !shared.contains(wanted) { return .plug(alike[0]) }
        return .ambiguous(alike.sorted { $0.rawValue < $1.rawValue })
    }
}

extension String {
    /// The case-folded name. It is equal for all spellings that differ only in case, such as "Straße" and "STRASSE".
    /// String comparison already ignores differences of canonical Unicode forms.
    public var foldedPlugName: String { uppercased().lowercased() }
}
