public import PlugClient
import PlugModel

/// The plugs that a follower of the house has reported so far, with a record for each.
public struct SeenPlugs: Sendable {
    private let paired: [PairedPlugs.Entry]
    private var plugs: [String: PlugRecord] = [:]
    /// The plugs that have reported their state or a reason why they are not connected.
    private var answered: Set<String> = []
    private var clocks: [String: PlugClock] = [:]

    /// Creates the value without seen plugs.
    ///
    /// - Parameter paired: the plugs that are listed as away until they are seen.
    public init(paired: [PairedPlugs.Entry]) { self.paired = paired }

    /// True if no plug was seen.
    public var isEmpty: Bool { plugs.isEmpty }
    /// True if every seen plug has reported its state or a reason why it is not connected.
    public var haveAllAnswered: Bool { answered.count == plugs.count }

    /// True if all paired plugs were seen.
    public var isComplete: Bool { missing.isEmpty }

    private var missing: [PairedPlugs.Entry] {
        let ids = Set(plugs.values.compactMap(\.id))
        return paired.filter { !ids.contains($0.id.rawValue) && plugs[$0.name] == nil }
    }

    /// The records, sorted by name. Paired plugs that were not seen are away.
    public var records: [PlugRecord] {
        let missing = missing.map { entry in
            var record = PlugRecord(plug: entry.name, state: "away")
            record.id = entry.id.rawValue
            record.reason = "it was not found"
            return record
        }
        return (plugs.values + missing).sorted { $0.plug < $1.plug }
    }

    /// Handles an update of the house.
    public mutating func handle(_ update: HouseFollower.Update) {
        switch update {
        case .found(let name): if plugs[name] == nil { plugs[name] = away(name, "it did not answer in time") }
        case .lost(let name):
            (plugs[name], clocks[name]) = (nil, nil)
            answered.remove(name)
        case .report(let report): handle(report)
        }
    }

    private mutating func handle(_ report: PlugReport) {
        var plug = plugs[report.plug] ?? away(report.plug, "")
        switch report.update {
        case .connected(let description):
            plug.id = description.id.rawValue
            plug.capabilities = description.capabilities.map(\.rawValue).sorted()
            plug.firmware = description.firmware
            clocks[report.plug] = PlugClock(description, at: report.at)
        case .snapshot(let state), .state(let state):
            answered.insert(report.plug)
            (plug.state, plug.reason) = ("connected", nil)
            plug.on = state.relayOn
            plug.level = state.level?.percent
            plug.tripped = state.tripped?.rawValue
            plug.reading = state.reading.map { ReadingRecord(plug: report.plug, at: report.at.iso8601(), $0) }
            plug.sleepers = SleeperRecord.records(state.sleepers, clock: clocks[report.plug])
        case .disconnected(let reason, _):
            answered.insert(report.plug)
            plug = away(report.plug, String("\(reason)".prefix { !$0.isNewline }))
            if case .distrusted = reason { plug.state = "stranger" }
        case .following, .event, .gap, .log: return
        }
        plugs[report.plug] = plug
    }

    /// Returns a record with the previously known data.
    private func away(_ name: String, _ reason: String) -> PlugRecord {
        var record = PlugRecord(plug: name, state: "away")
        record.reason = reason
        let known = plugs[name]
        (record.id, record.capabilities, record.firmware) = (known?.id, known?.capabilities, known?.firmware)
        return record
    }
}
