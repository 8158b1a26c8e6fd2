public import Fleet

/// Access to many houses with a user's rights.
public protocol FleetSource: Sendable {
    /// - Parameter name: the name of a dashboard password; nil for a user on this machine.
    func rights(of name: String?) -> FleetRights

    /// Returns the rows of a query.
    ///
    /// - Throws: ``FleetFault``.
    func rows(_ query: FleetQuery) async throws(FleetFault) -> [[String?]]

    /// Performs an order. The caller must check the rights first.
    func carryOut(_ order: FleetOrder) async -> FleetOutcome
}

extension FleetSource {
    public func houses(
        _ filter: FleetFilter, for rights: FleetRights, limit: Int
    ) async throws(FleetFault) -> FleetList<FleetHouse> {
        let query = FleetQuery.houses(filter, for: rights, limit: limit)
        return FleetList(try await rows(query), to: query) { FleetHouse($0, for: rights) }
    }

    public func plugs(
        _ filter: FleetFilter, for rights: FleetRights, limit: Int
    ) async throws(FleetFault) -> FleetList<FleetPlug> {
        let query = FleetQuery.plugs(filter, for: rights, limit: limit)
        return FleetList(try await rows(query), to: query) { FleetPlug($0, for: rights) }
    }

    public func energy(
        _ filter: FleetFilter, of months: ClosedRange<FleetMonth>, byPlug: Bool, for rights: FleetRights, limit: Int
    ) async throws(FleetFault) -> FleetList<FleetEnergy> {
        let query = FleetQuery.energy(filter, of: months, byPlug: byPlug, for: rights, limit: limit)
        return FleetList(try await rows(query), to: query) { FleetEnergy($0) }
    }
}

/// The reason why the database did not answer.
public struct FleetFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    public let hint: String?

    public init(_ description: String, hint: String? = nil) {
        self.description = description
        self.hint = hint
    }
}
