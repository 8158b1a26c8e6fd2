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
        }
    ]

    private func energy(
        of names: [String], by step: CalendarStep, over span: ClosedRange<Int64>
    ) async throws -> Response {
        let mostRows = Self.mostRows
        await board.begin()
        let (paired, counters) = await (board.board.paired, board.board.counters)
        let json = try await reading { history in
            let seconds = Int(span.lowerBound / 1000)..<Int((span.upperBound + 999) / 1000)
            let margin = 40 * 86_400
            let zone = ZoneOffsets.local(from: seconds.lowerBound - margin, to: seconds.upperBound + margin)
            var report = EnergyReport(step: step, zone: zone, tariff: try Self.tariff())
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

    /// Reads the user's tariff, or returns nil without a tariff. The file is read for each request, so that a new price
    /// applies at once.
    private static func tariff() throws(Fault) -> Tariff? {
        let path = UserDirectories.configuration + "/smartplug/tariff.toml"
        do {
            return try FileStore().readIfPresent(path, limit: Tariff.fileLimit).map { try Tariff($0, file: path) }
        } catch let error as FileError {
            throw .unavailable("\(error)", hint: error.hint)
        } catch {
            throw Fault(.serviceUnavailable, words: "\(error)")
        }
    }
}
