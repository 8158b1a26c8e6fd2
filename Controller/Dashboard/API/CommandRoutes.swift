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

    /// The time limit for the result of a request. It is short, since a user waits for the result.
    private static let patience = Duration.seconds(5)
    /// The time limit for a plug that is away, which may just be returning.
    private static let patienceWhileAway = Duration.seconds(2)

    private func send(
        _ request: Request, _ context: DashboardContext,
        _ read: @Sendable (Request) async throws -> PlugCommand
    ) async throws -> Response {
        _ = try QueryParameters(request)
        let command = try await read(request)
        return Response(json: jsonLine(try await send(command, to: try await plug(context).record)))
    }

    /// Sends a command to a plug, and waits for its result.
    func send(_ command: PlugCommand, to plug: PlugRecord) async throws -> CommandRecord {
        let (state, event) = try await ask(plug) { house in
            var random = SystemRandomNumberGenerator()
            return try await house.send(command, to: plug.plug, id: RequestID(drawnFrom: &random))
        } late: {
            let end = WallTime.now + FollowedPlug.commandLifetime
            let unconfirmed = UnconfirmedCommand(within: "\(Self.patience.components.seconds)s", end: end)
            return Fault(.gatewayTimeout, "\(unconfirmed)", hint: Self.doctor)
        }
        return CommandRecord(plug: plug.plug, state: state, event: event)
    }

    /// Sends a request to a paired plug, and waits for its answer until the time limit.
    ///
    /// - Parameter late: returns the fault if a connected plug does not answer in time.
    /// - Throws: `Fault`, also if the plug refused.
    func ask<Answer: Sendable>(
        _ plug: PlugRecord, _ work: @escaping @Sendable (any HouseCommands) async throws -> Answer,
        late: @escaping @Sendable () -> Fault = {
            Fault(.gatewayTimeout, "the plug did not answer", hint: Dashboard.doctor)
        }
    ) async throws -> Answer {
        guard plug.state != PlugRecord.stranger else {
            throw Fault(
                .conflict, plug.reason ?? "it is not paired with this controller",
                hint: "pair it with the code on its label")
        }
        let isConnected = plug.state == PlugRecord.connected
        do {
            return try await withThrowingTaskGroup(of: Answer.self) { [house] group in
                group.addTask { try await work(house) }
                group.addTask {
                    try await Task.sleep(for: isConnected ? Self.patience : Self.patienceWhileAway)
                    throw isConnected ? late() : Self.isAway(plug)
                }
                defer { group.cancelAll() }
                guard let answer = try await group.next() else { throw Self.isAway(plug) }
                return answer
            }
        } catch let refusal as Refusal {
            guard refusal.code != .deadlinePassed else { throw Self.isAway(plug) }
            throw Fault(.conflict, refusal.detail, hint: refusal.code.hint(for: plug.plug))
        }
    }

    private static let doctor = "plugctl doctor finds the reason"

    static func isAway(_ plug: PlugRecord) -> Fault {
        .unavailable("\(plug.plug) is away", hint: plug.reason ?? "it did not answer in time; try again")
    }
}

struct RelayBody: JSONBody {
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

struct LevelBody: JSONBody {
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

struct NameBody: JSONBody {
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
