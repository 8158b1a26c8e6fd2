public import PlugModel

/// Commands to plugs of the house.
extension HouseFollower {
    /// How long a plug that took another name may take to be found under it: two seconds for its announcements, with as much to
    /// spare.
    private static let patience = 20
    private static let pause = Duration.milliseconds(200)

    /// Sends the command until the plug has answered or the task is cancelled. A plug that takes another name meanwhile is
    /// asked again under that, with the same id, so that it does nothing twice.
    ///
    /// - Throws: `Refusal` when the plug refused or is not there, `CancellationError` when the caller gave up.
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

    /// Who follows the plug now that this one did; nil where it is not found again.
    private func successor(of plug: FollowedPlug) async throws -> FollowedPlug? {
        guard let id = plug.id else { return nil }
        for _ in 0..<Self.patience {
            let next = plugs.values.first { $0 !== plug && ($0.id ?? directory.id(of: $0.name)) == id }
            if let next { return next }
            try await Task.sleep(for: Self.pause)
        }
        return nil
    }
}
