import GRDB
public import PlugModel

/// Of which times the history takes no more samples of a plug: what it has stays as it is.
public struct KnownTimes: Hashable, Sendable {
    /// What chunks reach over, by their beginnings; they may overlap. Milliseconds since 1970.
    public var recorded: [ClosedRange<Int64>]
    /// Samples that are older do not come back; nil where none were forgotten.
    public var samplesBegin: Int64?
}

extension PowerHistory {
    /// - Parameter span: milliseconds since 1970.
    public func knownTimes(of plug: PlugID, in span: ClosedRange<Int64>) throws(HistoryError) -> KnownTimes {
        try read { database in
            guard let plug = try database.row(of: plug) else { return KnownTimes(recorded: []) }
            let places = try database.chunkPlaces(of: plug, from: span.lowerBound, to: span.upperBound)
            return KnownTimes(
                recorded: places.map { $0.since...max($0.since, $0.until) },
                samplesBegin: try database.integer("SELECT samples_from FROM plug WHERE id = ?", .integer(plug)))
        }
    }
}

extension PlacedRecording {
    /// Takes out what the history has already, or would not take.
    public mutating func leaveOut(_ known: KnownTimes) {
        if let begin = known.samplesBegin { leaveOut([.min...begin.subtractingClamped(1)], because: .forgotten) }
        leaveOut(known.recorded, because: .known)
    }
}
