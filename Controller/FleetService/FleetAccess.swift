public import Fleet
import NIOPosix

/// Access to many houses through their database and their broker.
public struct FleetAccess: FleetSource {
    private let settings: FleetSettings
    private let database: FleetDatabase
    /// The connection to the broker; nil if none is configured.
    private let desk: FleetDesk?

    /// Prepares the access. The database and the broker are connected on demand.
    public init(_ settings: FleetSettings) {
        self.settings = settings
        database = FleetDatabase(settings.database)
        desk = settings.broker.map {
            FleetDesk($0, prefix: settings.prefix, on: MultiThreadedEventLoopGroup.singleton.any())
        }
    }

    public func rights(of name: String?) -> FleetRights { settings.rights(of: name) }
    public func rows(_ query: FleetQuery) async throws(FleetFault) -> [[String?]] { try await database.rows(query) }

    public func carryOut(_ order: FleetOrder) async -> FleetOutcome {
        guard let desk else { return .unreachable("fleet.toml has no [broker]") }
        return await desk.carryOut(order)
    }

    /// Closes open connections.
    public func end() async {
        await desk?.end()
        await database.end()
    }
}
