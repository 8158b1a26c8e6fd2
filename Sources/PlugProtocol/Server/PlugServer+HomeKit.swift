import PlugModel
internal import ProtocolCore

/// The plug's HomeKit door, for its owners.
extension PlugServer {
    /// One question at a time, since each may mean a write to flash.
    mutating func manageHomeKit(
        _ wire: WireManageHomeKit, from index: Int, _ established: ServerSession.Established, now: Instant,
        _ actions: inout [Action]
    ) throws(MessageFault) {
        let order = try wire.model()
        guard !established.awaitsHomeKit else {
            let detail = "HomeKit was asked for something before it had answered."
            return end(index, Goodbye(.limit, detail), now: now, &actions)
        }
        var established = established
        established.awaitsHomeKit = true
        sessions[index].phase = .established(established)
        actions.append(.manageHomeKit(sessions[index].connection, order))
    }

    mutating func answer(homeKit answer: Result<HomeKitReport, Refusal>, on connection: ConnectionID) {
        // The session may have gone since it asked.
        guard let index = index(of: connection), case .established(var established) = sessions[index].phase,
            established.awaitsHomeKit
        else { return }
        established.awaitsHomeKit = false
        sessions[index].phase = .established(established)
        switch answer {
        case .success(let status): sessions[index].say { $0.homekit = WireHomeKitStatus(status) }
        case .failure(let refusal): refuse(.manage_homekit, refusal, to: index)
        }
    }
}
