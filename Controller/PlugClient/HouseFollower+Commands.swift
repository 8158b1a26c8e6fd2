public import PlugModel

/// Sends commands to plugs of the house.
extension HouseFollower {
    /// The number of attempts to find a renamed plug under its new name: four seconds in total. The plug's probes and
    /// its first two announcements take two seconds.
    private static let patience = 20
    private static let pause = Duration.milliseconds(200)

    /// Sends the command until the plug has answered or the task is cancelled. If the plug is renamed in the meantime,
    /// the command is sent again under the new name with the same id, so the plug executes it only once. If the plug is
    /// followed but not connected, the call waits for its connection.
    ///
    /// - Throws: `Refusal` if the plug refused, if no plug is followed under this name, if the name is ambiguous, or if
    ///   following ended; `CancellationError` if the task was cancelled.
    /// - Returns: The resulting state, and the number of the event that records the change; nil if nothing changed.
    public func send(
        _ command: PlugCommand, to name: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?) {
        guard var plug = plug(named: name) else { throw absence(of: name) }
        let owner = owner(of: name)
        while true {
            do {
                return try await plug.send(command, id: id, only: owner)
            } catch let refusal as Refusal {
                guard await plug.isStopped, let next = try await successor(of: plug) else { throw refusal }
                plug = next
            }
        }
    }

    /// Returns the object that follows the same plug after a rename; nil if the plug is not found again.
    private func successor(of plug: FollowedPlug) async throws -> FollowedPlug? {
        guard let id = plug.id else { return nil }
        for _ in 0..<Self.patience {
            if let next = successor(of: id, after: plug) { return next }
            try await Task.sleep(for: Self.pause)
        }
        return nil
    }
}
