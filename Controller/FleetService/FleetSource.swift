public import Fleet

/// Access to many houses with a user's rights.
public protocol FleetSource: Sendable {
    /// Returns the rights of a user, which include no house if no rights are configured for the name.
    ///
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
    /// Returns the houses that the filter selects and the rights include, sorted by name.
    ///
    /// - Throws: ``FleetFault``.
    public func houses(
        _ filter: FleetFilter, for rights: FleetRights, limit: Int
    ) async throws(FleetFault) -> FleetList<FleetHouse> {
        let query = FleetQuery.houses(filter, for: rights, limit: limit)
        return FleetList(try await rows(query), to: query) { FleetHouse($0, for: rights) }
    }

    /// Returns the plugs that the filter selects and the rights include, sorted by house and name.
    ///
    /// - Throws: ``FleetFault``.
    public func plugs(
        _ filter: FleetFilter, for rights: FleetRights, limit: Int
    ) async throws(FleetFault) -> FleetList<FleetPlug> {
        let query = FleetQuery.plugs(filter, for: rights, limit: limit)
        return FleetList(try await rows(query), to: query) { FleetPlug($0, for: rights) }
    }

    /// Returns the energy by month and house, or by month and plug.
    ///
    /// - Throws: ``FleetFault``.
    public func energy(
        _ filter: FleetFilter, of months: ClosedRange<FleetMonth>, byPlug: Bool, for rights: FleetRights, limit: Int
    ) async throws(FleetFault) -> FleetList<FleetEnergy> {
        let query = FleetQuery.energy(filter, of: months, byPlug: byPlug, for: rights, limit: limit)
        return FleetList(try await rows(query), to: query) { FleetEnergy($0) }
    }
}

/// The reason why the database did not answer.
public struct FleetFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message for the user, without the hint.
    public let description: String
    /// The hint for the user.
    public let hint: String?

    /// Creates a fault.
    public init(_ description: String, hint: String? = nil) {
        self.description = description
        self.hint = hint
    }
}
