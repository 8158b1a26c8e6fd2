import HTTPTypes
import Hummingbird
import LinuxNetwork
import PlugClient
import PlugProtocol
import PowerHistory
import Presentation

extension Dashboard {
    static let eventRoutes = [
        APIRoute(.get, "/api/v1/events") { dashboard, request, _ in
            let query = try QueryParameters(request, once: ["from", "to", "plug", "limit"])
            let span = try query.span(now: .now, default: nil)
            let limit = try query.whole("limit", 1...1000, default: 100)
            return try await dashboard.events(of: query.text("plug"), over: span, limit: limit)
        },
        APIRoute(.get, "/api/v1/firings") { dashboard, request, _ in
            let query = try QueryParameters(request, once: ["from", "to", "limit"])
            let span = try query.span(now: .now, default: nil)
            let limit = try query.whole("limit", 1...1000, default: 100)
            return try await dashboard.firings(over: span, limit: limit)
        },
    ]

    private func events(of name: String?, over span: ClosedRange<Int64>, limit: Int) async throws -> Response {
        await board.begin()
        let house = await board.board
        let wanted: PlugID?
        if let name {
            if let id = house.plug(named: name)?.id {
                wanted = id
            } else {
                // One that is there and was never met has no events.
                if house.plug(named: name) != nil { return Response(json: "[]") }
                wanted = try await reading { try $0.plug(named: name).id }
            }
        } else {
            wanted = nil
        }
        let recent = house.recentEvents.events.filter { event in
            span.contains(event.milliseconds) && (wanted == nil || event.plug == wanted)
        }
        let json = try await reading { history in
            var names: [PlugID: String] = [:]
            for plug in try history.plugs() { names[plug.id] = plug.title }
            for plug in house.plugs.values { if let id = plug.id { names[id] = plug.record.plug } }
            let stored = try newest(limit, of: span) { from, to in
                try history.events(of: wanted, from: from, to: to)
            }
            let known = Set(stored.map(\.identity))
            let new = recent.filter { !known.contains($0.identity) }
            let all =
                stored.compactMap { event in WatchRecord(event, names: names).map { (at: event.at, record: $0) } }
                + new.map { (at: $0.milliseconds, record: $0.record) }
            return jsonLine(all.sorted { $0.at < $1.at }.suffix(limit).map(\.record))
        }
        return Response(json: json)
    }

    private func firings(over span: ClosedRange<Int64>, limit: Int) async throws -> Response {
        await board.begin()
        let recent = await board.board.rules.recent.filter { span.contains($0.milliseconds) }
        let json = try await reading { history in
            var names: [PlugID: String] = [:]
            for plug in try history.plugs() { names[plug.id] = plug.title }
            let stored = try newest(limit, of: span) { try history.firings(from: $0, to: $1) }
            let known = Set(stored.map { "\($0.at) \($0.rule)" })
            let new = recent.filter { !known.contains("\($0.milliseconds) \($0.record.rule)") }
            let all =
                stored.map { (at: $0.at, record: FiringRecord($0, names: names)) }
                + new.map { (at: $0.milliseconds, record: $0.record) }
            return jsonLine(all.sorted { $0.at < $1.at }.suffix(limit).map(\.record))
        }
        return Response(json: json)
    }
}

/// The newest of a time, read in pieces from its end on, each longer than the one after it: mostly the first is enough, and years
/// are never read at once.
private func newest<Item>(
    _ limit: Int, of span: ClosedRange<Int64>, _ read: (Int64, Int64) throws -> [Item]
) rethrows -> [Item] {
    var found: [Item] = []
    var end = span.upperBound
    var length: Int64 = 86_400_000
    while found.count < limit, end >= span.lowerBound {
        let begin = max(span.lowerBound, end - length)
        found = try read(begin, end) + found
        end = begin - 1
        length *= 4
    }
    return found.suffix(limit)
}

extension StoredEvent {
    fileprivate var identity: RecentEvents.Identity {
        switch content {
        case .event(let event): .event(plug, event.sequence)
        case .gap(let gap): .gap(plug, from: gap.from)
        }
    }
}

extension WatchRecord {
    fileprivate init?(_ event: StoredEvent, names: [PlugID: String]) {
        let update: PlugUpdate =
            switch event.content {
            case .event(let event): .event(event, age: nil)
            case .gap(let gap): .gap(gap)
            }
        let at = WallTime(nanosecondsSince1970: event.at * 1_000_000)
        let report = PlugReport(plug: names[event.plug] ?? event.plug.rawValue, at: at, update: update)
        guard let record = WatchRecord.records(of: report, previous: nil).first else { return nil }
        self = record
    }
}
