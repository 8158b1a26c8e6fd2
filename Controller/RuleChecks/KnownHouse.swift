/// The known plugs, with a search by name.
struct KnownHouse {
    enum Found {
        case plug(KnownPlug)
        case ambiguous([String])
        /// No known plug has the name.
        case unknown
        /// The list of plugs is unavailable.
        case untold
    }

    let plugs: [KnownPlug]?
    private let exact: [String: KnownPlug]
    private let lowercased: [String: [KnownPlug]]

    init(_ plugs: [KnownPlug]?) {
        self.plugs = plugs
        exact = Dictionary((plugs ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        lowercased = Dictionary(grouping: exact.values) { $0.name.lowercased() }
    }

    /// Finds the plug with exactly this name, else the only plug whose name differs only in capitals.
    func find(_ written: String) -> Found {
        guard plugs != nil else { return .untold }
        if let plug = exact[written] { return .plug(plug) }
        let near = lowercased[written.lowercased()] ?? []
        switch near.count {
        case 0: return .unknown
        case 1: return .plug(near[0])
        case _: return .ambiguous(near.map(\.name).sorted())
        }
    }

    func plug(_ written: String) -> KnownPlug? {
        guard case .plug(let plug) = find(written) else { return nil }
        return plug
    }

    /// Returns a key that is equal for all spellings of one plug.
    func key(_ written: String) -> String { plug(written)?.name ?? written.lowercased() }
}
