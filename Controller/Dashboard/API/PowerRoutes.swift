import Charting
import HTTPTypes
import Hummingbird
import LinuxSystem
import PowerHistory
import Presentation

extension Dashboard {
    static let powerRoutes = [
        APIRoute(.get, "/api/v1/plugs/{plug}/power") { dashboard, request, context in
            let query = try QueryParameters(request, once: ["from", "to", "columns"])
            let span = try query.span(now: .now, default: .seconds(600))
            let columns = try query.whole("columns", 1...4000, default: 600)
            return try await dashboard.power(of: dashboard.wanted(context), over: span, columns: columns)
        }
    ]

    private func power(of name: String, over span: ClosedRange<Int64>, columns: Int) async throws -> Response {
        let plug = await known(name)
        let paired = await board.board.paired
        let newer = plug?.recent.points(from: span.lowerBound, to: span.upperBound) ?? []
        // Without a history, only the readings of the last 20 minutes are available (``RecentReadings/span``).
        if let plug, history == nil {
            return Response(json: Self.json(plug.record.plug, StoredPowerSeries(), newer, span, columns))
        }
        let json = try await reading { history in
            let wanted = plug?.id.map(\.rawValue) ?? name
            let known: HistoryPlug
            do throws(HistoryError) {
                known = try history.plug(named: wanted, paired: paired)
            } catch {
                guard let plug, case .unknownPlug = error.reason else { throw error }
                return Self.json(plug.record.plug, StoredPowerSeries(), newer, span, columns)
            }
            let kept = try StoredPowerSeries(of: known, from: history, over: span, columns: columns)
            return Self.json(plug?.record.plug ?? known.title, kept, newer, span, columns)
        }
        return Response(json: json)
    }

    private static func json(
        _ name: String, _ kept: StoredPowerSeries, _ newer: [ChartPoint], _ span: ClosedRange<Int64>, _ columns: Int
    ) -> String {
        jsonLine(
            SampleRecord.records(
                of: name, kept: kept, newer: newer, from: Double(span.lowerBound) / 1000,
                to: Double(span.upperBound) / 1000, columns: columns))
    }
}
