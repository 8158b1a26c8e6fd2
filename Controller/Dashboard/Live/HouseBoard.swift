import Daemon
import LinuxSystem
import Metering
import PlugClient
import PlugModel
import PowerHistory
import Presentation

/// The current state of the house. It receives updates and returns the messages for the readers of the stream. It is a
/// pure value without a clock or files.
struct HouseBoard: Sendable {
    /// A plug that is announced, connected or paired.
    struct Plug: Hashable, Sendable {
        var record: PlugRecord
        var id: PlugID?
        var isAnnounced = false
        var recent = RecentReadings()
        /// Counts of the events of the journal, by kind.
        var eventCounts: [String: UInt64] = [:]
        var disconnections: UInt64 = 0
        /// The clock of the current or last connection.
        var clock: PlugClock?
        /// The boot of the current or last connection.
        var boot: BootID?
        /// The latest reading of the energy counter. It remains when the plug is away.
        var counter: CounterReading?

        var isConnected: Bool { record.state == PlugRecord.connected }
    }

    /// The limit of shown plugs: all plugs that a controller can pair, and as many unknown plugs as the house reports.
    /// It stops a network that invents names from filling the memory.
    static let limit = 1280

    /// The plugs by name.
    var plugs: [String: Plug] = [:]
    /// Old names of renamed plugs that are still announced or connected under these names.
    private var formerNames: Set<String> = []
    private(set) var paired: [PlugID: String] = [:]
    /// The last reported event of each plug. Initially the last event that the history had stored.
    private var reported: [PlugID: SequenceNumber] = [:]
    private var pending: [String: ReadingRecord] = [:]
    /// The room of each plug that has one.
    private var rooms: [PlugID: String] = [:]
    /// The place of each plug that the owner arranged.
    private var places: [PlugID: Int] = [:]
    private(set) var recentEvents = RecentEvents()
    var rules: RuleBoard

    init(rules: RuleBoard = RuleBoard()) { self.rules = rules }

    /// True if readings are waiting to be sent in the next combined message.
    var hasReadings: Bool { !pending.isEmpty }

    /// - Parameter at: the time in ISO 8601.
    func record(at: String) -> HouseRecord {
        HouseRecord(at: at, plugs: records, rules: rules.records, ruleFaults: rules.faults)
    }

    /// The latest readings of the energy counters.
    var counters: [PlugID: CounterReading] {
        plugs.values.compactMap(\.counter).reduce(into: [:]) { $0[$1.plug] = $1 }
    }

    /// The plugs, sorted by name.
    var records: [PlugRecord] { plugs.values.map(\.record).sorted { $0.plug < $1.plug } }

    /// Returns the waiting readings as one message and clears them.
    mutating func takeReadings() -> StreamMessage? {
        guard hasReadings else { return nil }
        defer { pending = [:] }
        return .readings(pending.values.sorted { $0.plug < $1.plug })
    }

    /// Sets the initial state.
    ///
    /// - Parameters:
    ///   - plugs: all paired plugs, with their last known names.
    ///   - reported: for each plug, the number of the last event or gap in the history.
    mutating func begin(paired plugs: [PlugID: String], reported: [PlugID: SequenceNumber]) -> [StreamMessage] {
        self.reported = reported
        return know(plugs)
    }

    /// Updates the set of paired plugs and returns the changes.
    mutating func know(_ plugs: [PlugID: String]) -> [StreamMessage] {
        paired = plugs
        // A connected plug may have a newer name than the pairing.
        for plug in self.plugs.values { if let id = plug.id, paired[id] != nil { paired[id] = plug.record.plug } }
        let unknown = self.plugs.values.filter { plug in
            !plug.isAnnounced && !plug.isConnected && plug.id.map { paired[$0] == nil } ?? true
        }
        let gone = unknown.map(\.record.plug).sorted()
        for name in gone { self.plugs[name] = nil }
        return gone.map { .gone(plug: $0) } + showPaired()
    }

    /// Replaces the rooms and returns the changes.
    ///
    /// - Parameter rooms: the room of each plug that has one.
    mutating func setRooms(_ rooms: [PlugID: String]) -> [StreamMessage] {
        self.rooms = rooms
        return arranged()
    }

    /// Replaces the order and returns the changes.
    ///
    /// - Parameter plugs: the arranged plugs. Each plug counts once.
    mutating func setOrder(_ plugs: [PlugID]) -> [StreamMessage] {
        places = Dictionary(plugs.enumerated().map { ($1, $0) }) { first, _ in first }
        return arranged()
    }

    /// Updates the rooms and the places of all plugs and returns the changes.
    private mutating func arranged() -> [StreamMessage] {
        plugs.keys.sorted().compactMap { name -> StreamMessage? in
            guard let before = plugs[name]?.record else { return nil }
            let id = plugs[name]?.id
            let (room, place) = (id.flatMap { rooms[$0] }, id.flatMap { places[$0] })
            guard (before.room, before.place) != (room, place) else { return nil }
            plugs[name]?.record.room = room
            plugs[name]?.record.place = place
            return (plugs[name]?.record).map { .plug($0) }
        }
    }

    mutating func handle(_ update: HouseFollower.Update) -> [StreamMessage] {
        switch update {
        case .found(let name):
            plugs[name]?.isAnnounced = true
            return []
        case .lost(let name): return lose(name)
        case .report(let report): return handle(report)
        }
    }

    private mutating func handle(_ report: PlugReport) -> [StreamMessage] {
        switch report.update {
        case .connected(let description): return connected(description, report)
        case .snapshot(let state), .state(let state): return handle(state, report)
        case .event(let event, _):
            guard let id = plugs[report.plug]?.id, event.sequence > reported[id] ?? 0 else { return [] }
            reported[id] = event.sequence
            return tell(report, .event(id, event.sequence), of: id)
        case .gap(let gap):
            guard let id = plugs[report.plug]?.id else { return [] }
            // With `unknownCursor` the plug's journal has a new numbering, so the gap is not compared with the last
            // reported event.
            guard gap.reason == .unknownCursor || gap.to > reported[id] ?? 0 else { return [] }
            reported[id] = gap.to
            return tell(report, .gap(id, from: gap.from), of: id)
        case .disconnected(let reason, _): return disconnected(reason, report)
        case .following, .log: return []
        }
    }

    private mutating func tell(
        _ report: PlugReport, _ identity: RecentEvents.Identity, of id: PlugID
    ) -> [StreamMessage] {
        WatchRecord.records(of: report, previous: nil).map { record in
            plugs[report.plug]?.eventCounts[record.event, default: 0] += 1
            var kept = record
            kept.age = nil
            recentEvents.add(.init(identity: identity, plug: id, milliseconds: report.at.milliseconds, record: kept))
            return .event(record)
        }
    }

    // MARK: Connections

    private mutating func connected(_ description: PlugDescription, _ report: PlugReport) -> [StreamMessage] {
        let name = report.plug
        formerNames.remove(name)
        // A plug with this id and a different name was renamed. Later updates under the old name are ignored.
        let former = plugs.values.filter { $0.id == description.id && $0.record.plug != name }.map(\.record.plug)
        for other in former {
            if plugs[other]?.isAnnounced == true || plugs[other]?.isConnected == true { formerNames.insert(other) }
            let moved = plugs.removeValue(forKey: other)
            if plugs[name]?.id != description.id { plugs[name] = moved }
            pending[other] = nil
        }
        guard plugs[name] != nil || plugs.count < Self.limit else { return [] }
        let known = plugs[name].flatMap { $0.id == nil || $0.id == description.id ? $0 : nil }
        var plug = known ?? Plug(record: .away(name))
        plug.record = PlugRecord(plug: name, state: PlugRecord.connected)
        plug.record.id = description.id.rawValue
        (plug.record.room, plug.record.place) = (rooms[description.id], places[description.id])
        plug.record.capabilities = description.capabilities.map(\.rawValue).sorted()
        plug.record.firmware = description.firmware
        plug.id = description.id
        plug.clock = PlugClock(description, at: report.at)
        plug.boot = description.clock.boot
        plug.isAnnounced = true
        plugs[name] = plug
        paired[description.id] = name
        return former.sorted().map { .gone(plug: $0) } + [.plug(plug.record)] + records(of: report)
    }

    private mutating func handle(_ state: PlugState, _ report: PlugReport) -> [StreamMessage] {
        let name = report.plug
        // The plug is changed in place, because a copy would copy all its readings.
        guard plugs[name]?.isConnected == true, let isChanged = plugs[name]?.handle(state, report),
            let record = plugs[name]?.record
        else { return [] }
        if let reading = record.reading { pending[name] = reading }
        return isChanged ? [.plug(record)] : []
    }

    private mutating func disconnected(_ reason: Disconnection, _ report: PlugReport) -> [StreamMessage] {
        let name = report.plug
        guard !formerNames.contains(name), plugs[name] != nil || plugs.count < Self.limit else { return [] }
        var plug = plugs[name] ?? Plug(record: .away(name))
        let before = plug.record
        let wasConnected = plug.isConnected
        if wasConnected {
            plug.disconnections += 1
            plug.record.since = report.at.iso8601()
        }
        if case .distrusted = reason {
            plug.record.forget(as: PlugRecord.stranger)
        } else {
            plug.record.forget(as: PlugRecord.away)
        }
        plug.record.reason = "\(reason)".firstLine
        plug.isAnnounced = true
        pending[name] = nil
        plugs[name] = plug
        return (plug.record != before ? [.plug(plug.record)] : []) + (wasConnected ? records(of: report) : [])
    }

    private mutating func lose(_ name: String) -> [StreamMessage] {
        guard formerNames.remove(name) == nil, var plug = plugs[name] else { return [] }
        pending[name] = nil
        guard plug.record.state != PlugRecord.stranger, let id = plug.id, paired[id] != nil else {
            plugs[name] = nil
            let shown = showPaired()
            // If `showPaired()` has added a paired plug under this name, the name is not reported as gone.
            return plugs[name] == nil ? [.gone(plug: name)] + shown : shown
        }
        let before = plug.record
        plug.isAnnounced = false
        plug.record.forget(as: PlugRecord.away)
        plug.record.reason = PlugRecord.notAnnounced
        plugs[name] = plug
        return plug.record != before ? [.plug(plug.record)] : []
    }

    /// Adds the paired plugs whose ids no shown plug has, up to ``limit`` plugs. A plug whose name is in use is not
    /// added.
    private mutating func showPaired() -> [StreamMessage] {
        let met = Set(plugs.values.compactMap(\.id))
        var messages: [StreamMessage] = []
        for (id, name) in paired.sorted(by: { $0.value < $1.value })
        where !met.contains(id) && plugs[name] == nil && plugs.count < Self.limit {
            var plug = Plug(record: .away(name), id: id)
            plug.record.id = id.rawValue
            (plug.record.room, plug.record.place) = (rooms[id], places[id])
            plugs[name] = plug
            messages.append(.plug(plug.record))
        }
        return messages
    }

    private func records(of report: PlugReport) -> [StreamMessage] {
        WatchRecord.records(of: report, previous: nil).map { .event($0) }
    }
}

extension HouseBoard.Plug {
    /// - Returns: true if anything other than the reading changed, or if the plug no longer reports a reading.
    fileprivate mutating func handle(_ state: PlugState, _ report: PlugReport) -> Bool {
        let before = record
        record.on = state.relayOn
        record.level = state.level?.percent
        record.tripped = state.tripped?.rawValue
        record.sleepers = SleeperRecord.records(state.sleepers, clock: clock)
        let isChanged = record != before
        record.reading = state.reading.map { ReadingRecord(plug: report.plug, at: report.at.iso8601(), $0) }
        if let reading = state.reading {
            recent.add(reading.deciwatts, at: report.at.milliseconds)
            counter = id.flatMap { counterReading(reading, of: $0, at: report.at.milliseconds) }
        }
        return isChanged || before.reading != nil && record.reading == nil
    }

    private func counterReading(_ reading: Reading, of plug: PlugID, at milliseconds: Int64) -> CounterReading? {
        guard let boot else { return nil }
        let time = reading.time.nanoseconds / 1_000_000
        return CounterReading(
            plug: plug, boot: boot, origin: milliseconds - time, milliseconds: time,
            milliwattHours: reading.milliwattHours)
    }
}

extension PlugRecord {
    static let connected = "connected"
    static let away = "away"
    static let stranger = "stranger"
    static let notAnnounced = "it is not announced on the network"

    static func away(_ name: String) -> PlugRecord {
        var record = PlugRecord(plug: name, state: away)
        record.reason = notAnnounced
        return record
    }

    /// Sets the state, and clears the values that are known only while the plug is connected.
    fileprivate mutating func forget(as state: String) {
        self.state = state
        (on, level, tripped, reading, sleepers) = (nil, nil, nil, nil, nil)
    }
}

extension String {
    /// The first line of the text, without the hints in the other lines.
    var firstLine: String { String(prefix { !$0.isNewline }) }
}

extension WallTime {
    /// Milliseconds since 1970.
    var milliseconds: Int64 { nanosecondsSince1970 / 1_000_000 }
}
