import GRDB
public import PlugModel
import ProtocolCore

extension PowerHistory {
    /// Returns all plugs in the history, sorted by name.
    public func plugs() throws(HistoryError) -> [HistoryPlug] {
        try read { database in
            var rows: [(row: Int64, plug: HistoryPlug)] = []
            try database.query("SELECT id, plug, name FROM plug ORDER BY name, plug") { row in
                guard let id = PlugID(rawValue: row.text(1)) else { return }
                rows.append((row.integer(0), HistoryPlug(id: id, name: row.text(2))))
            }
            return try rows.map { row, plug in
                var plug = plug
                plug.span = try Self.span(of: row, in: database)
                return plug
            }
        }
    }

    /// Returns the plug with this last known name or this id. Case is ignored if no plug matches exactly. If several
    /// plugs have the same matching name, the plug with the newest sample is returned; if the names of the matching
    /// plugs differ, the name is ambiguous.
    ///
    /// - Parameter paired: The names of all paired plugs. Such a name always means the paired plug.
    /// - Throws: ``HistoryError/Reason/unknownPlug(_:suggestions:)``, ``HistoryError/Reason/ambiguous(_:plugs:)``.
    public func plug(named name: String, paired: [PlugID: String] = [:]) throws(HistoryError) -> HistoryPlug {
        let plugs = try plugs()
        let exact = plugs.filter { $0.name == name || $0.id.rawValue == name }
        let wanted = name.foldedPlugName
        let found: [HistoryPlug]
        switch PlugNameOwner(of: name, among: paired) {
        case .plug(let id): found = plugs.filter { $0.id == id }
        case .ambiguous(let ids): throw HistoryError(.ambiguous(name, plugs: ids.map(\.rawValue)), path)
        case .unknown:
            found = exact.isEmpty ? plugs.filter { [$0.name.foldedPlugName, $0.id.rawValue].contains(wanted) } : exact
        }
        guard Set(found.map(\.name)).count <= 1 else {
            throw HistoryError(.ambiguous(name, plugs: found.map(\.id.rawValue)), path)
        }
        if let plug = found.max(by: { ($0.span?.upperBound ?? .min) < ($1.span?.upperBound ?? .min) }) { return plug }
        let suggestion = Suggestion.nearest(to: name, among: plugs.map(\.title))
        throw HistoryError(.unknownPlug(name, suggestions: suggestion.map { [$0] } ?? []), path)
    }

    /// Returns the span from the first to the last sample. If old samples were deleted by age, the span begins with the
    /// first stored quarter-hour that has a power.
    private static func span(of plug: Int64, in database: Database) throws -> ClosedRange<Int64>? {
        let newest = try database.integer("SELECT max(since) FROM chunk WHERE plug = ?", .integer(plug))
        guard let newest,
            let first = try database.integer("SELECT min(since) FROM chunk WHERE plug = ?", .integer(plug)),
            let last = try database.chunkPlaces(of: plug, from: newest, to: .max).map(\.until).max()
        else { return nil }
        let (start, end) = (SQLRow.time(first), SQLRow.time(max(first, last)))
        let hasForgotten = try database.integer(
            "SELECT 1 FROM plug WHERE id = ? AND samples_from IS NOT NULL", .integer(plug))
        guard hasForgotten != nil,
            let block = try database.integer(
                "SELECT min(block) FROM rollup WHERE plug = ? AND step = ?", .integer(plug),
                .integer(Int64(RollUpStep.quarter.rawValue)))
        else { return start...end }
        let begin = SQLRow.time(block.multipliedClamped(by: RollUpStep.quarter.blockMilliseconds))
        let quarters = try RollUps(database, plug: plug).entries(
            .quarter, from: begin, to: begin + RollUpStep.quarter.blockMilliseconds)
        let remembered = quarters.first { $0.entry.power != nil }?.start ?? start
        return min(start, remembered)...end
    }
}
