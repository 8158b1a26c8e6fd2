/// The paired plug that a written name means.
///
/// An exact name means its own plug. A name in a different spelling of capitals means the only plug whose name it is then. A name that a
/// paired plug has never means a different plug, whichever of them are present.
public enum PlugNameOwner: Hashable, Sendable {
    case plug(PlugID)
    /// The name fits these plugs, in the order of their ids, and none of them exactly.
    case ambiguous([PlugID])
    case unknown

    /// - Parameters:
    ///   - written: the name as the user wrote it.
    ///   - paired: as in ``PairedNames/init(_:)``.
    public init(of written: String, among paired: [PlugID: String]) { self = PairedNames(paired).owner(of: written) }
}

/// The names of all paired plugs, for many look-ups.
public struct PairedNames: Hashable, Sendable {
    /// By id.
    public let names: [PlugID: String]
    private let exact: [String: [PlugID]]
    private let folded: [String: [PlugID]]
    /// Names that several plugs have in common, without the ids that tell them apart.
    private let shared: Set<String>

    /// - Parameter names: by id. Plugs of one name are told apart as ``PlugID/distinguishing(_:)`` does.
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

    public func owner(of written: String) -> PlugNameOwner {
        if let own = exact[written], own.count == 1 { return .plug(own[0]) }
        let wanted = written.foldedPlugName
        guard let alike = folded[wanted] else { return .unknown }
        if alike.count == 1, !shared.contains(wanted) { return .plug(alike[0]) }
        return .ambiguous(alike.sorted { $0.rawValue < $1.rawValue })
    }
}

extension String {
    /// The same text for all spellings of a plug's name that differ in capitals only, such as "Straße" and "STRASSE". Strings are equal in
    /// every canonical Unicode form.
    public var foldedPlugName: String { uppercased().lowercased() }
}
