import HTTPTypes
import Hummingbird
import LinuxSystem
import PlugClient
import PlugModel
import Presentation

extension Dashboard {
    static let commandRoutes = [
        APIRoute(.post, "/api/v1/plugs/{plug}/relay") { dashboard, request, context in
            try await dashboard.send(request, context) { try await RelayBody.read(from: $0).command() }
        },
        APIRoute(.post, "/api/v1/plugs/{plug}/level") { dashboard, request, context in
            try await dashboard.send(request, context) { try await LevelBody.read(from: $0).command() }
        },
        APIRoute(.post, "/api/v1/plugs/{plug}/name") { dashboard, request, context in
            try await dashboard.send(request, context) { try await NameBody.read(from: $0).command() }
        },
        APIRoute(.post, "/api/v1/plugs/{plug}/identify") { dashboard, request, context in
            try await dashboard.send(request, context) {
                _ = try await NoBody.read(from: $0)
                return .identify
            }
        },
        APIRoute(.post, "/api/v1/plugs/{plug}/protection/reset") { dashboard, request, context in
            try await dashboard.send(request, context) {
                _ = try await NoBody.read(from: $0)
                return .resetProtection
            }
        },
    ]

    /// The time limit for the result of a command. It is short, since a user waits for the result.
    private static let patience = Duration.seconds(5)
    /// The time limit for a plug that is away, which may just be returning.
    private static let patienceWhileAway = Duration.seconds(2)

    private func send(
        _ request: Request, _ context: DashboardContext,
        _ read: @Sendable (Request) async throws -> PlugCommand
    ) async throws -> Response {
        _ = try QueryParameters(request)
        let command = try await read(request)
        let plug = try await plug(context)
        let name = plug.record.plug
        guard plug.record.state != PlugRecord.stranger else {
            throw Fault(
                .conflict, plug.record.reason ?? "it is not paired with this controller",
                hint: "pair it with the code on its label")
        }
        do {
            let isConnected = plug.record.state == PlugRecord.connected
            let time = isConnected ? Self.patience : Self.patienceWhileAway
            let (state, event) = try await inTime(time, away: plug.record) { [house] in
                var random = SystemRandomNumberGenerator()
                return try await house.send(command, to: name, id: RequestID(drawnFrom: &random))
            }
            return Response(json: jsonLine(CommandRecord(plug: name, state: state, event: event)))
        } catch let refusal as Refusal {
            guard refusal.code != .deadlinePassed else { throw Self.isAway(plug.record) }
            throw Fault(.conflict, refusal.detail, hint: refusal.code.hint(for: name))
        }
    }

    private func inTime<Answer: Sendable>(
        _ time: Duration, away plug: PlugRecord, _ work: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        try await withThrowingTaskGroup(of: Answer.self) { group in
            group.addTask(operation: work)
            group.addTask {
                try await Task.sleep(for: time)
                guard plug.state == PlugRecord.connected else { throw Self.isAway(plug) }
                let end = WallTime.now + FollowedPlug.commandLifetime
                let unconfirmed = UnconfirmedCommand(within: "\(time.components.seconds)s", end: end)
                throw Fault(.gatewayTimeout, "\(unconfirmed)", hint: "plugctl doctor finds the reason")
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw Self.isAway(plug) }
            return answer
        }
    }

    private static func isAway(_ plug: PlugRecord) -> Fault {
        .unavailable("\(plug.plug) is away", hint: plug.reason ?? "it did not answer in time; try again")
    }
}

private struct RelayBody: JSONBody {
    static let keys: Set = ["on", "autoOff"]

    var on: Bool
    /// The time until the relay switches off again, in seconds, 1 to 2592000.
    var autoOff: Double?

    func command() throws(Fault) -> PlugCommand {
        guard let autoOff else { return .setRelay(on: on, autoOff: nil) }
        guard (1...2_592_000).contains(autoOff) else {
            throw .outOfRange("\"autoOff\" is out of range", hint: "1 to 2592000 seconds")
        }
        guard on else { throw .outOfRange("\"autoOff\" requires \"on\": true") }
        return .setRelay(on: true, autoOff: .seconds(autoOff))
    }
}

private struct LevelBody: JSONBody {
    static let keys: Set = ["level", "over"]

    /// The level in percent, 0 to 100.
    var level: Double
    /// The duration of the transition in seconds, at most 3600.
    var over: Double?

    func command() throws(Fault) -> PlugCommand {
        guard (0...100).contains(level) else {
            throw .outOfRange("\"level\" is out of range", hint: "0 to 100 per cent")
        }
        guard (0...3600).contains(over ?? 0) else {
            throw .outOfRange("\"over\" is out of range", hint: "0 to 3600 seconds")
        }
        return .setLevel(DimLevel(percent: level), transition: .seconds(over ?? 0))
    }
}

private struct NameBody: JSONBody {
    static let keys: Set = ["name"]

    /// The new name, 1 to 63 bytes of UTF-8.
    var name: String

    func command() throws(Fault) -> PlugCommand {
        guard (1...PlugWire.maximumName).contains(name.utf8.count) else {
            throw .outOfRange("\"name\" is out of range", hint: "1 to \(PlugWire.maximumName) bytes of UTF-8")
        }
        return .rename(name)
    }
}

struct NoBody: JSONBody {
    static let keys: Set<String> = []
}
