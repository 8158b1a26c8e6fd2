import PlugModel
internal import ProtocolCore

/// Owners' access to the updates of the plug's system.
extension PlugServer {
    /// Allows one request at a time, so that a controller sends no faster than the plug writes.
    mutating func manageUpdate(
        _ wire: WireManageUpdate, from connection: ConnectionID, _ established: ServerSession.Established,
        now: Instant, _ actions: inout [Action]
    ) throws(MessageFault) {
        let order = try wire.model()
        guard !established.awaitsUpdate else {
            let detail = "A request about updates was sent before the previous one was answered."
            return end(connection, Goodbye(.limit, detail), now: now, &actions)
        }
        let detail: String? =
            switch order {
            case .begin(_, let size, _): "a bundle of \(size) bytes"
            case .restart: "a restart with a new system"
            case .ask, .part, .cancel: nil
            }
        if let detail {
            guard spendWrites(1, for: .manage_update, of: connection, now: now) else { return }
            note(.firmware, of: connection, detail)
        }
        var established = established
        established.awaitsUpdate = true
        sessions[connection]?.phase = .established(established)
        actions.append(.shell(.manageUpdate(connection, order)))
    }

    mutating func answer(update answer: Result<UpdateReport, Refusal>, on connection: ConnectionID) {
        // The session may have ended since its request.
        guard case .established(var established) = sessions[connection]?.phase, established.awaitsUpdate
        else { return }
        established.awaitsUpdate = false
        sessions[connection]?.phase = .established(established)
        guard established.role.may(.manage_update) else {
            return refuse(.manage_update, established.role, to: connection)
        }
        switch answer {
        case .success(let report): sessions[connection]?.say { $0.update = WireUpdateStatus(report) }
        case .failure(let refusal): refuse(.manage_update, refusal, to: connection)
        }
    }
}
