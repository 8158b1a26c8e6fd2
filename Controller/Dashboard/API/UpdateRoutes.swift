import HTTPTypes
import Hummingbird
import PlugModel
import Presentation
import SystemUpdates

extension Dashboard {
    static let updateRoutes = [
        APIRoute(.get, "/api/v1/plugs/{plug}/update") { dashboard, request, context in
            _ = try QueryParameters(request)
            return try await dashboard.answer(context) { try await $0.system(of: $1) }
        },
        APIRoute(.post, "/api/v1/plugs/{plug}/update") { dashboard, request, context in
            _ = try QueryParameters(request)
            let restart = try await UpdateBody.read(from: request).time()
            return try await dashboard.answer(context, status: .accepted) {
                _ = try await $0.system(of: $1)
                try await $0.update($1, restart: restart)
                return try await $0.system(of: $1)
            }
        },
        APIRoute(.delete, "/api/v1/plugs/{plug}/update") { dashboard, request, context in
            _ = try QueryParameters(request)
            return try await dashboard.answer(context) { try await $0.cancel($1) }
        },
    ]

    /// Answers with a plug's system after a request.
    private func answer(
        _ context: DashboardContext, status: HTTPResponse.Status = .ok,
        _ work: @escaping @Sendable (HouseUpdates, PlugID) async throws -> PlugSystem
    ) async throws -> Response {
        let plug = try await plug(context)
        guard let id = plug.id else { throw Self.isAway(plug.record) }
        guard plug.record.capabilities?.contains(Capability.update.rawValue) ?? true else {
            throw Fault(.conflict, "its system cannot be updated over the network")
        }
        do {
            let system = try await ask(plug.record) { try await work($0.updates, id) }
            return Response(json: jsonLine(UpdateRecord(system, plug: plug.record.plug, id: id)), status: status)
        } catch SystemUpdateError.away {
            throw Self.isAway(plug.record)
        } catch let error as SystemUpdateError {
            throw Fault(.conflict, words: "\(error)")
        }
    }
}

extension UpdateRecord {
    init(_ system: PlugSystem, plug: String, id: PlugID) {
        self.init(system.report, available: system.available, plug: plug, id: id)
        updating = system.isUpdating
        fault = system.fault
    }
}

struct UpdateBody: JSONBody {
    static let keys: Set = ["restart"]

    /// When the plug restarts: now, when-off or later; as configured if omitted.
    var restart: String?

    func time() throws(Fault) -> UpdateRestart? {
        guard let restart else { return nil }
        guard let time = UpdateRestart(rawValue: restart) else {
            throw .outOfRange("\"restart\" is not valid", hint: "now, when-off or later")
        }
        return time
    }
}
