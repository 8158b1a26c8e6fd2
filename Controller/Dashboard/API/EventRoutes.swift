import HTTPTypes
import Hummingbird
import LinuxSystem
import PlugClient
import PlugModel
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
                // A plug that is announced but was never connected has no events.
                if house.plug(named: name) != nil { return Response(json: "[]") }
                let paired = house.paired
                wanted = try await reading { try $0.plug(named: name, paired: paired).id }
            }
        } else {
            wanted = nil
        }
        let recent = house.recentEvents.events.filter { event in
            span.contains(event.milliseconds) && (wanted == nil || event.plug == wanted)
        }
        // The closure captures the names instead of the board. If it held the board, each change during the read would
        // copy the whole board.
        var current: [PlugID: String] = [:]
        for plug in house.plugs.values { if let id = plug.id { current[id] = plug.record.plug } }
        let json = try await reading { [current] history in
            var names: [PlugID: String] = [:]
            for plug in try history.plugs() { names[plug.id] = plug.title }
            names.merge(current) { $1 }
            let stored = try history.events(of: wanted, from: span.lowerBound, to: span.upperBound, newest: limit)
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
            let stored = try history.firings(from: span.lowerBound, to: span.upperBound, newest: limit)
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
        let at = WallTime(millisecondsSince1970: event.at)
        let report = PlugReport(plug: names[event.plug] ?? event.plug.rawValue, at: at, update: update)
        guard let record = WatchRecord.records(of: report, previous: nil).first else { return nil }
        self = record
    }
}
