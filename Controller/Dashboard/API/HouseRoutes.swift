import HTTPTypes
import Hummingbird
import PlugClient
import PlugModel
import Presentation

extension Dashboard {
    static let houseRoutes = [
        APIRoute(.get, "/api/v1/house") { dashboard, request, context in
            _ = try QueryParameters(request)
            await dashboard.board.begin()
            let record = await dashboard.board.record
            return Response(json: jsonLine(context.isOwner ? record : record.forOthers))
        },
        APIRoute(.get, "/api/v1/plugs") { dashboard, request, _ in
            _ = try QueryParameters(request)
            await dashboard.board.begin()
            return Response(json: jsonLine(await dashboard.board.board.records))
        },
        APIRoute(.get, "/api/v1/plugs/{plug}") { dashboard, request, context in
            _ = try QueryParameters(request)
            return Response(json: jsonLine(try await dashboard.plug(context).record))
        },
    ]

    /// Returns the plug that the path names.
    func plug(_ context: DashboardContext) async throws -> HouseBoard.Plug {
        let name = try wanted(context)
        guard let plug = await known(name) else {
            guard let shared = SharedPlugName(name, among: await board.board.paired) else { throw Self.unknown(name) }
            throw Fault(.notFound, words: "\(shared)")
        }
        return plug
    }

    func known(_ name: String) async -> HouseBoard.Plug? {
        await board.begin()
        return await board.board.plug(named: name)
    }

    /// The name of the plug in the path, percent-decoded.
    func wanted(_ context: DashboardContext) throws(Fault) -> String {
        guard let name = context.parameters.get("plug").flatMap({ String(percentEncoded: $0.utf8) }) else {
            throw .malformed("the plug's name is not percent-encoded UTF-8")
        }
        return name
    }

    static func unknown(_ name: String) -> Fault {
        Fault(.notFound, "no plug \"\(name)\" is known", hint: "/api/v1/plugs lists the known plugs")
    }
}

extension HouseBoard {
    /// Finds a plug by id, by name, or by a unique name that differs only in case. The name of a paired plug never
    /// means a different plug.
    func plug(named name: String) -> Plug? {
        if let id = PlugID(rawValue: name), let plug = plugs.values.first(where: { $0.id == id }) { return plug }
        switch PlugNameOwner(of: name, among: paired) {
        case .plug(let id): return plugs.values.first { $0.id == id }
        case .ambiguous: return nil
        case .unknown: break
        }
        if let plug = plugs[name] { return plug }
        let wanted = name.foldedPlugName
        let near = plugs.values.filter { $0.record.plug.foldedPlugName == wanted }
        return near.count == 1 ? near[0] : nil
    }
}
