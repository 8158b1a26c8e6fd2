import PlugModel
internal import ProtocolCore

/// Owners' access to the plug's HomeKit server.
extension PlugServer {
    /// Allows one request at a time, because each may write flash.
    mutating func manageHomeKit(
        _ wire: WireManageHomeKit, from connection: ConnectionID, _ established: ServerSession.Established,
        now: Instant,
        _ actions: inout [Action]
    ) throws(MessageFault) {
        let order = try wire.model()
        guard !established.awaitsHomeKit else {
            let detail = "A HomeKit request was sent before the previous one was answered."
            return end(connection, Goodbye(.limit, detail), now: now, &actions)
        }
        var established = established
        established.awaitsHomeKit = true
        sessions[connection]?.phase = .established(established)
        actions.append(.shell(.manageHomeKit(connection, order)))
    }

    mutating func answer(homeKit answer: Result<HomeKitReport, Refusal>, on connection: ConnectionID) {
        // The session may have ended since its request.
        guard case .established(var established) = sessions[connection]?.phase, established.awaitsHomeKit
        else { return }
        established.awaitsHomeKit = false
        sessions[connection]?.phase = .established(established)
        guard established.role.may(.manage_homekit) else {
            return refuse(.manage_homekit, established.role, to: connection)
        }
        switch answer {
        case .success(let status): sessions[connection]?.say { $0.homekit = WireHomeKitStatus(status) }
        case .failure(let refusal): refuse(.manage_homekit, refusal, to: connection)
        }
    }
}
