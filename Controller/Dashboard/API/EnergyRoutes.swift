import HTTPTypes
import HouseCalendar
import Hummingbird
import LinuxSystem
import PlugModel
import PowerHistory
import Presentation

extension Dashboard {
    /// The maximum number of rows of all plugs in one answer. It allows two years of hourly rows for one plug, or three
    /// months for eight plugs, and stops a request from filling the memory.
    private static let mostRows = 20_000

    static let energyRoutes = [
        APIRoute(.get, "/api/v1/energy") { dashboard, request, _ in
            let query = try QueryParameters(request, once: ["from", "to", "by"], repeatable: ["plug"])
            let span = try query.span(now: .now, default: .seconds(30 * 86_400))
            let step = query.text("by").map(CalendarStep.init) ?? .day
            guard let step, step != .quarter else {
                throw Fault.malformed("the parameter \"by\" is not valid", hint: "use hour, day or month")
            }
            // The number of named plugs is limited, because each of these plugs is read for the whole time span.
            guard query.all("plug").count <= 64 else {
                throw Fault.outOfRange("too many plugs", hint: "name at most 64, or none for all plugs")
            }
            var names: [String] = []
            for name in query.all("plug") { names.append(await dashboard.known(name)?.id?.rawValue ?? name) }
            return try await dashboard.energy(of: names, by: step, over: span)
        },
        APIRoute(.get, "/api/v1/energy/base") { dashboard, request, _ in
            _ = try QueryParameters(request)
            return try await dashboard.baseLoad()
        },
    ]

    /// The number of days over which the base load is computed.
    private static let baseLoadDays = 7

    private func baseLoad() async throws -> Response {
        await board.begin()
        let counters = await board.board.counters
        let record = try await reading { [settings] history -> BaseLoadRecord? in
            let now = Int(WallTime.now.nanosecondsSince1970 / 1_000_000_000)
            let begin = now - Self.baseLoadDays * 86_400
            let zone = ZoneOffsets.local(from: begin - 86_400, to: now + 86_400)
            let quarters = CalendarPeriod.all(.quarter, from: begin, to: now, zone: zone) ?? []
            let energies = try history.plugs().map {
                try history.energy(of: $0.id, periods: quarters, upTo: counters[$0.id])
            }
            let tariff = try settings.tariff.readOrFault()
            return BaseLoad(of: energies, tariff: tariff, zone: zone).map {
                BaseLoadRecord($0, days: Self.baseLoadDays, currency: tariff?.currency)
            }
        }
        return record.map { Response(json: jsonLine($0)) } ?? Response(status: .noContent)
    }

    private func energy(
        of names: [String], by step: CalendarStep, over span: ClosedRange<Int64>
    ) async throws -> Response {
        let mostRows = Self.mostRows
        await board.begin()
        let (paired, counters) = await (board.board.paired, board.board.counters)
        let json = try await reading { [settings] history in
            let seconds = Int(span.lowerBound / 1000)..<Int((span.upperBound + 999) / 1000)
            let margin = 40 * 86_400
            let zone = ZoneOffsets.local(from: seconds.lowerBound - margin, to: seconds.upperBound + margin)
            var report = EnergyReport(step: step, zone: zone, tariff: try settings.tariff.readOrFault())
            let plugs =
                names.isEmpty ? try history.plugs() : try names.map { try history.plug(named: $0, paired: paired) }
            var rows = 0
            // A plug that the request names twice, by name and by id, is added once.
            var counted: Set<PlugID> = []
            for plug in plugs where counted.insert(plug.id).inserted {
                guard try report.add(plug, from: history, over: seconds, upTo: counters[plug.id]) else {
                    throw Fault.outOfRange(
                        "more than \(CalendarPeriod.limit) periods", hint: "use by=month or a shorter time span")
                }
                rows += report.appliances.last?.rows.count ?? 0
                guard rows <= mostRows else {
                    throw Fault.outOfRange(
                        "more than \(mostRows) rows", hint: "use a longer step, a shorter time span, or fewer plugs")
                }
            }
            return jsonLine(report.records)
        }
        return Response(json: json)
    }
}
