import PlugModel
internal import ProtocolCore

/// Owners' access to the plug's Matter device.
extension PlugServer {
    /// Allows one request at a time, because each may write flash.
    mutating func manageMatter(
        _ wire: WireManageMatter, from connection: ConnectionID, _ established: ServerSession.Established,
        now: Instant,
        _ actions: inout [Action]
    ) throws(MessageFault) {
        let order = try wire.model()
        guard !established.awaitsMatter else {
            let detail = "A Matter request was sent before the previous one was answered."
            return end(connection, Goodbye(.limit, detail), now: now, &actions)
        }
        var established = established
        established.awaitsMatter = true
        sessions[connection]?.phase = .established(established)
        actions.append(.shell(.manageMatter(connection, order)))
    }

    mutating func answer(matter answer: Result<MatterReport, Refusal>, on connection: ConnectionID) {
        // The session may have ended since its request.
        guard case .established(var established) = sessions[connection]?.phase, established.awaitsMatter
        else { return }
        established.awaitsMatter = false
        sessions[connection]?.phase = .established(established)
        guard established.role.may(.manage_matter) else {
            return refuse(.manage_matter, established.role, to: connection)
        }
        switch answer {
        case .success(let status): sessions[connection]?.say { $0.matter = WireMatterStatus(status) }
        case .failure(let refusal): refuse(.manage_matter, refusal, to: connection)
        }
    }
}
