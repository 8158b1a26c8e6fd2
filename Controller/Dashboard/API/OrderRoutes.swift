import HTTPTypes
import Hummingbird
import PlugModel
import Presentation

extension Dashboard {
    static let orderRoutes = [
        APIRoute(.post, "/api/v1/order") { dashboard, request, _ in
            _ = try QueryParameters(request)
            try await dashboard.arrange(try await OrderBody.read(from: request).order())
            return Response(status: .noContent)
        },
        APIRoute(.delete, "/api/v1/order") { dashboard, request, _ in
            _ = try QueryParameters(request)
            try await dashboard.arrange([])
            return Response(status: .noContent)
        },
    ]

    private func arrange(_ plugs: [PlugID]) async throws {
        do {
            try await board.arrange(plugs)
        } catch let error as DecodingError {
            throw Fault.unavailable(
                "the file with the order of plugs is damaged: \(error)", hint: "remove order.json of the daemon")
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault(storing: error)
        }
    }
}

struct OrderBody: JSONBody {
    static let keys: Set = ["plugs"]
    /// All plugs that the dashboard shows have less.
    static let limit = 32_768

    /// The ids of the arranged plugs in their order, at most as many as the dashboard shows.
    var plugs: [String]

    func order() throws(Fault) -> [PlugID] {
        let ids = plugs.compactMap(PlugID.init(rawValue:))
        guard ids.count == plugs.count, Set(ids).count == ids.count, (1...HouseBoard.limit).contains(ids.count) else {
            throw .outOfRange("\"plugs\" is not valid", hint: "1 to \(HouseBoard.limit) ids of different plugs")
        }
        return ids
    }
}
