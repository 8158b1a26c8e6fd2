public import PlugModel
import RuleModel

/// The plugs that the names in rules and scripts mean.
///
/// A name is bound to a plug's id as soon as the plug of that name is known. The name then means this plug, even after
/// a rename, as long as a rule or script uses the name and the plug is paired. A different plug that takes over the
/// name is therefore not commanded, and a rename by the user disables no rule.
public struct BoundNames: Hashable, Sendable {
    /// The maximum number of bound names. Stops scripts and plugs that keep using new names from filling the disk.
    static let limit = 2048

    /// The ids, by the name as written.
    public private(set) var plugs: [String: PlugID]

    init(_ plugs: [String: PlugID] = [:]) { self.plugs = plugs }

    /// The plug to which the name is bound, or nil.
    public subscript(_ written: String) -> PlugID? { plugs[written] }

    /// Forgets names that are no longer written, and binds names of known plugs. If a rule calls a script, all bound
    /// names and the names of all known and paired plugs count as written, because the script may use any of these
    /// names.
    ///
    /// The name of a paired plug is bound only to this plug, even if it was never present.
    ///
    /// - Parameters:
    ///   - known: the plugs that were present at least once.
    ///   - paired: the names of all paired plugs; nil if unknown.
    ///   - foldsCapitals: true to bind a name also to the only known plug whose name differs only in capitals.
    /// - Returns: true if a binding changed.
    mutating func bind(
        _ rules: [Rule], to known: [StoredRuleState.Plug], paired: PairedNames? = nil, foldsCapitals: Bool = true
    ) -> Bool {
        let before = plugs
        var written = Set(rules.flatMap(\.plugs))
        if rules.contains(where: { !$0.handlers.isEmpty }) {
            written.formUnion(known.map(\.name))
            written.formUnion(plugs.keys)
            if let paired { written.formUnion(paired.names.values) }
        }
        plugs = plugs.filter { written.contains($0.key) }
        let unbound = written.filter { plugs[$0] == nil }
        guard !unbound.isEmpty else { return plugs != before }
        let exact = Dictionary(known.map { ($0.name, $0.id) }) { _, last in last }
        let folded = Dictionary(grouping: known) { $0.name.foldedPlugName }
        for name in unbound.sorted() where plugs.count < Self.limit {
            switch paired?.owner(of: name) ?? .unknown {
            case .plug(let id): plugs[name] = id
            case .ambiguous: continue
            case .unknown:
                let alike = foldsCapitals ? folded[name.foldedPlugName, default: []] : []
                plugs[name] = exact[name] ?? (alike.count == 1 ? alike[0].id : nil)
            }
        }
        return plugs != before
    }

    /// Forgets the bindings of plugs that are not paired, so that a different plug may take the name.
    ///
    /// - Returns: true if a binding changed.
    mutating func keep(_ paired: Set<PlugID>) -> Bool {
        let before = plugs.count
        plugs = plugs.filter { paired.contains($0.value) }
        return plugs.count != before
    }
}
