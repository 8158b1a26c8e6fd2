import Fleet
import FleetService
import HTTPTypes
import Hummingbird
import LinuxSystem
import PlugModel
import Presentation

/// Routes to other houses, through the fleet's database and broker. A user sees the houses in which `fleet.toml` gives
/// a role to the name of the user's password. The password's own role limits the rights in every house.
extension Dashboard {
    private static let largestList = 1000
    private static let usualList = 200
    /// The maximum number of `house` parameters, and of `label` parameters, in one query.
    private static let addressedLimit = 8

    static let fleetRoutes = [
        APIRoute(.get, "/api/v1/fleet") { dashboard, request, context in
            let query = try QueryParameters(request, once: ["search", "limit"], repeatable: ["house", "label"])
            let limit = try query.whole("limit", 1...largestList, default: usualList)
            let filter = try fleetFilter(query)
            let (fleet, rights) = try dashboard.houses(seenBy: context)
            let list = try await answered { () throws(FleetFault) in
                try await fleet.houses(filter, for: rights, limit: limit)
            }
            return Response(json: jsonLine(FleetHousesRecord(houses: list.rows, more: list.isCut)))
        },
        APIRoute(.get, "/api/v1/fleet/plugs") { dashboard, request, context in
            let query = try QueryParameters(
                request, once: ["search", "state", "limit"], repeatable: ["house", "label"])
            let limit = try query.whole("limit", 1...largestList, default: usualList)
            var filter = try fleetFilter(query)
            guard let condition = FleetFilter.Condition(rawValue: query.text("state") ?? "all") else {
                throw Fault.malformed("state is not valid", hint: "use all, away or tripped")
            }
            filter.condition = condition
            let (fleet, rights) = try dashboard.houses(seenBy: context)
            let list = try await answered { [filter] () throws(FleetFault) in
                try await fleet.plugs(filter, for: rights, limit: limit)
            }
            return Response(json: jsonLine(FleetPlugsRecord(plugs: list.rows, more: list.isCut)))
        },
        APIRoute(.get, "/api/v1/fleet/energy") { dashboard, request, context in
            let query = try QueryParameters(
                request, once: ["from", "to", "by", "limit"], repeatable: ["house", "label"])
            let limit = try query.whole("limit", 1...largestList, default: usualList)
            let filter = try fleetFilter(query)
            let months = try fleetMonths(query)
            let by = query.text("by") ?? "house"
            guard ["house", "plug"].contains(by) else {
                throw Fault.malformed("by is not valid", hint: "house or plug")
            }
            let (fleet, rights) = try dashboard.houses(seenBy: context)
            let list = try await answered { () throws(FleetFault) in
                try await fleet.energy(filter, of: months, byPlug: by == "plug", for: rights, limit: limit)
            }
            return Response(json: jsonLine(FleetEnergyRecord(energy: list.rows, more: list.isCut)))
        },
        APIRoute(.post, "/api/v1/fleet/houses/{house}/plugs/{plug}/relay") { dashboard, request, context in
            _ = try QueryParameters(request)
            let on = try await FleetRelayBody.read(from: request).on
            return try await dashboard.turn(on, context)
        },
    ]

    /// Returns the other houses and the rights of the user. Answers never mention a house in which the user has no
    /// role.
    private func houses(seenBy context: DashboardContext) throws(Fault) -> (any FleetSource, FleetRights) {
        guard let fleet else {
            throw Fault(
                .notFound, "no other houses are configured",
                hint: "configure them in fleet.toml; see Documentation/how-to/fleet.md")
        }
        return (fleet, fleet.rights(of: context.pass?.name))
    }

    private func turn(_ on: Bool, _ context: DashboardContext) async throws -> Response {
        guard let house = context.parameters.get("house").flatMap({ String(percentEncoded: $0.utf8) }) else {
            throw Fault.malformed("the house's name is not percent-encoded UTF-8")
        }
        let written = try wanted(context)
        let (fleet, rights) = try houses(seenBy: context)
        guard let role = rights.role(in: house) else {
            throw Fault(.notFound, "unknown house \"\(house)\"", hint: "/api/v1/fleet lists the houses")
        }
        guard rights.maySwitch(in: house) else {
            throw Fault(
                .forbidden, "\(role.described) of \(house) may not turn its plugs on or off",
                hint: "add them to [user] or [owner] in fleet.toml")
        }
        guard let plug = PlugID(rawValue: written) else {
            throw Fault(
                .notFound, "\"\(written)\" is not a plug id", hint: "/api/v1/fleet/plugs lists the plugs of a house")
        }
        let outcome = await fleet.carryOut(FleetOrder(house: house, plug: plug, on: on))
        switch outcome {
        case .done(let on, let event):
            return Response(json: jsonLine(FleetDoneRecord(house: house, id: plug.rawValue, on: on, seq: event)))
        case .refused(let reason): throw Fault(.conflict, reason)
        case .unanswered, .unreachable:
            throw Fault(.serviceUnavailable, words: outcome.fault ?? "the command was not executed")
        }
    }

    private static func fleetFilter(_ query: QueryParameters) throws(Fault) -> FleetFilter {
        for words in ["house", "label"] where query.all(words).count > addressedLimit {
            throw .outOfRange("\(words) is given more than \(addressedLimit) times")
        }
        var labels: [FleetLabel] = []
        for written in query.all("label") {
            guard let label = FleetLabel(written) else { throw .malformed("a label must be key=value") }
            labels.append(label)
        }
        let search = query.text("search").flatMap { $0.isEmpty ? nil : $0 }
        let filter = FleetFilter(houses: query.all("house"), labels: labels, search: search)
        if let fault = filter.fault { throw .outOfRange(fault) }
        return filter
    }

    private static func fleetMonths(_ query: QueryParameters) throws(Fault) -> ClosedRange<FleetMonth> {
        func month(_ name: String) throws(Fault) -> FleetMonth? {
            guard let text = query.text(name) else { return nil }
            guard let month = FleetMonth(text) else {
                throw .malformed("\(name) is not a month", hint: "write it as 2026-11")
            }
            return month
        }
        let to = try month("to") ?? FleetMonth(String(WallTime.now.iso8601().prefix(7)))
        guard let to else { throw .unavailable("the clock of this machine is not set") }
        let from = try month("from") ?? to
        guard from <= to else { throw .outOfRange("from is after to") }
        return from...to
    }

    private static func answered<Answer>(
        _ body: () async throws(FleetFault) -> Answer
    ) async throws(Fault) -> Answer {
        do throws(FleetFault) { return try await body() } catch {
            throw .unavailable("\(error)", hint: error.hint)
        }
    }
}

private struct FleetHousesRecord: Encodable {
    var houses: [FleetHouse]
    /// True if there are more houses than the limit of the request.
    var more: Bool
}

private struct FleetPlugsRecord: Encodable {
    var plugs: [FleetPlug]
    var more: Bool
}

private struct FleetEnergyRecord: Encodable {
    var energy: [FleetEnergy]
    var more: Bool
}

private struct FleetDoneRecord: Encodable {
    var house: String
    var id: String
    var on: Bool
    /// The number of the event that records the change; nil if the relay already had this state.
    var seq: SequenceNumber?
}

private struct FleetRelayBody: JSONBody {
    static let keys: Set = ["on"]
    var on: Bool
}
