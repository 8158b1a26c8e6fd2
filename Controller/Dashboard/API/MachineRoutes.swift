import HTTPTypes
import HostSleep
import Hummingbird
import Presentation
import ProtocolCore

extension Dashboard {
    static let machineRoutes = [
        APIRoute(.get, "/api/v1/machines") { dashboard, request, _ in
            _ = try QueryParameters(request)
            return Response(json: jsonLine(dashboard.house.machines.machines.map { MachineRecord($0) }))
        },
        // The answer follows the outcome, which takes up to a minute. The server has no time limit for an answer.
        APIRoute(.post, "/api/v1/machines/{machine}/wake") { dashboard, request, context in
            _ = try QueryParameters(request)
            _ = try await NoBody.read(from: request)
            return try await dashboard.wake(dashboard.machine(context))
        },
    ]

    private func wake(_ machine: KnownMachine) async throws -> Response {
        do {
            let outcome = try await wakes.perform(machine.name) { try await house.wake(machine) }
            return Response(json: jsonLine(WakeRecord(machine.name, outcome)))
        } catch let fault as WakeFault {
            throw Fault.unavailable(
                "\(machine.name): \(fault)", hint: "check the interfaces of the daemon's machine with ip addr")
        } catch is CancellationError {
            throw Fault.unavailable("the daemon is stopping", hint: "try again in a moment")
        }
    }

    /// Returns the machine that the path names.
    private func machine(_ context: DashboardContext) throws(Fault) -> KnownMachine {
        guard let name = context.parameters.get("machine").flatMap({ String(percentEncoded: $0.utf8) }) else {
            throw .malformed("the machine's name is not percent-encoded UTF-8")
        }
        let known = house.machines
        guard let machine = known.machine(name) else {
            let near = Suggestion.nearest(to: name, among: known.machines.map(\.name))
            throw Fault(
                .notFound, "no machine is called \"\(name)\"",
                hint: near.map { "did you mean \"\($0)\"?" } ?? "/api/v1/machines lists the known machines")
        }
        return machine
    }
}
