public import PlugModel

/// Which plug each name means that is written in a rule or a script.
///
/// A name is bound to a plug's id once somebody knows the plug under it, and then means this plug, under whatever name it goes, for
/// as long as it is written anywhere and the plug is paired. So nobody else who takes the name is commanded, and a rename that a
/// person makes turns no rule off.
public struct BoundNames: Hashable, Sendable {
    /// Stops scripts and plugs of ever new names from filling the disk.
    static let limit = 2048

    /// By the name as it is written.
    public private(set) var plugs: [String: PlugID]

    init(_ plugs: [String: PlugID] = [:]) { self.plugs = plugs }

    public subscript(_ written: String) -> PlugID? { plugs[written] }

    /// Forgets names that are not written any more, and binds those of plugs that are known. A script may say any of these names.
    ///
    /// The name of a paired plug is bound to this plug only, whether or not it was ever present.
    ///
    /// - Parameters:
    ///   - known: the plugs that were present once.
    ///   - paired: the names of all paired plugs; nil if they are not known.
    ///   - foldsCapitals: whether the only known plug whose name differs in capitals is meant too.
    /// - Returns: whether that changed anything.
    mutating func bind(
        _ rules: [Rule], to known: [HouseMemory.Plug], paired: PairedNames? = nil, foldsCapitals: Bool = true
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

    /// A plug that is not paired any more makes room for another one of its name.
    ///
    /// - Returns: whether that changed anything.
    mutating func keep(_ paired: Set<PlugID>) -> Bool {
        let before = plugs.count
        plugs = plugs.filter { paired.contains($0.value) }
        return plugs.count != before
    }
}

extension Rule {
    /// Every plug that it names, as it is written.
    public var plugs: [String] {
        var plugs = triggers.compactMap(\.plug) + conditions.flatMap(\.plugs)
        for action in actions {
            plugs += action.plugs
            if case .waitUntil(let condition, _, _) = action { plugs += condition.plugs }
        }
        return plugs
    }
}
