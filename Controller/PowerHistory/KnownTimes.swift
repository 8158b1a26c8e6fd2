import GRDB
public import PlugModel

/// The times at which the history already has samples of a plug, or rejects samples because of their age.
public struct KnownTimes: Hashable, Sendable {
    /// The spans of the stored chunks, sorted by their beginnings, in milliseconds since 1970. They may overlap.
    public var recorded: [ClosedRange<Int64>]
    /// The history rejects samples before this time, in milliseconds since 1970, because it has deleted them by age;
    /// nil if it has deleted none.
    public var samplesBegin: Int64?
}

extension PowerHistory {
    /// Returns the times at which the history already has samples of the plug, or rejects them because of their age.
    ///
    /// - Parameter span: Milliseconds since 1970, both ends included.
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
    /// Removes the samples that the history already has or would reject.
    public mutating func leaveOut(_ known: KnownTimes) {
        if let begin = known.samplesBegin { leaveOut([.min...begin.subtractingClamped(1)], because: .forgotten) }
        leaveOut(known.recorded, because: .known)
    }
}
