import Daemon
import HTTPTypes
import Hummingbird
import NIOCore
import PlugModel
import PowerHistory
import Presentation
import ProtocolCore

extension Dashboard {
    static let ruleRoutes = [
        APIRoute(.get, "/api/v1/rules") { dashboard, request, context in
            _ = try QueryParameters(request)
            await dashboard.board.begin()
            let rules = await dashboard.rules()
            return Response(json: jsonLine(context.isOwner ? rules : rules.map(\.forOthers)))
        },
        APIRoute(.get, "/api/v1/rules/faults") { dashboard, request, context in
            _ = try QueryParameters(request)
            await dashboard.board.begin()
            let faults = await dashboard.board.board.rules.faults
            return Response(json: jsonLine(context.isOwner ? faults : faults.map(\.forOthers)))
        },
        APIRoute(.post, "/api/v1/rules/{rule}/enabled") { dashboard, request, context in
            _ = try QueryParameters(request)
            let body = try await EnabledBody.read(from: request)
            var rule = try await dashboard.rule(context)
            try await told { try await dashboard.house.enable(rule.rule, body.enabled) }
            // The board shows the change only when the next notice arrives.
            rule.enabled = body.enabled
            return Response(json: jsonLine(rule))
        },
        APIRoute(.post, "/api/v1/rules/{rule}/fire") { dashboard, request, context in
            _ = try QueryParameters(request)
            _ = try await NoBody.read(from: request)
            let rule = try await dashboard.rule(context).rule
            let id = try await told { try await dashboard.house.fire(rule) }
            return Response(json: jsonLine(RuleFiredRecord(id: id.hexadecimal)), status: .accepted)
        },
        APIRoute(.get, "/api/v1/rules/{rule}/traces") { dashboard, request, context in
            let query = try QueryParameters(request, once: ["from", "to", "limit"])
            let span = try query.span(now: .now, default: nil)
            let limit = try query.whole("limit", 1...1000, default: 50)
            return try await dashboard.traces(of: ruleName(context), over: span, limit: limit, context.isOwner)
        },
    ]

    private func rules() async -> [RuleStateRecord] {
        var rules = await board.board.rules.records
        for index in rules.indices {
            rules[index].plugs = await house.plugs(of: rules[index].rule).map { plug in
                RulePlugRecord(written: plug.written, id: plug.id?.rawValue, name: plug.name)
            }
        }
        return rules
    }

    /// Returns the traces of an active rule, or of a removed rule whose traces are still in the history.
    private func traces(
        of name: String, over span: ClosedRange<Int64>, limit: Int, _ isOwner: Bool
    ) async throws -> Response {
        await board.begin()
        let known = await board.board.rules.rule(named: name)
        let rules = await board.board.rules.records.map(\.rule)
        let json = try await reading { history in
            let found = try history.traces(
                of: known?.rule ?? name, from: span.lowerBound, to: span.upperBound, newest: limit)
            guard known != nil || !found.isEmpty else { throw Self.unknownRule(name, among: rules) }
            let told = isOwner ? found : found.compactMap(\.forOthers)
            return "[" + told.map(\.json).joined(separator: ",") + "]"
        }
        return Response(json: json)
    }

    private func rule(_ context: DashboardContext) async throws -> RuleStateRecord {
        let name = try Self.ruleName(context)
        await board.begin()
        let rules = await board.board.rules
        guard let rule = rules.rule(named: name) else {
            throw Self.unknownRule(name, among: rules.records.map(\.rule))
        }
        return rule
    }

    private static func ruleName(_ context: DashboardContext) throws(Fault) -> String {
        guard let name = context.parameters.get("rule").flatMap({ String(percentEncoded: $0.utf8) }) else {
            throw .malformed("the rule's name is not percent-encoded UTF-8")
        }
        return name
    }

    private static func unknownRule(_ name: String, among rules: [String]) -> Fault {
        let near = Suggestion.nearest(to: name, among: rules).map { "did you mean \"\($0)\"?" }
        return Fault(.notFound, "no rule \"\(name)\" is running", hint: near ?? "/api/v1/rules lists the running rules")
    }

    private static func told<Answer: Sendable>(_ work: () async throws -> Answer) async throws -> Answer {
        do {
            return try await work()
        } catch is CancellationError {
            throw Fault.unavailable("the daemon is stopping", hint: "try again in a moment")
        } catch let error as RuleRequestError {
            switch error {
            case .heldBack: throw Fault(.conflict, error.description, hint: error.hint)
            case .notStored: throw Fault.unavailable(error.description, hint: error.hint)
            // The rule was removed after it was found.
            case .unknown: throw Fault(.notFound, error.description, hint: error.hint)
            }
        }
    }
}

private struct EnabledBody: JSONBody {
    static let keys: Set = ["enabled"]

    var enabled: Bool
}
