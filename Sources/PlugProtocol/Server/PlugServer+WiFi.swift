import PlugModel
internal import ProtocolCore

/// Owners' access to the plug's Wi-Fi.
extension PlugServer {
    /// Allows one request at a time, like ``manageUpdate(_:from:_:now:_:)``.
    mutating func manageWiFi(
        _ wire: WireManageWifi, from connection: ConnectionID, _ established: ServerSession.Established,
        now: Instant, _ actions: inout [Action]
    ) throws(MessageFault) {
        let order = try wire.model()
        guard !established.awaitsWiFi else {
            let detail = "A request about Wi-Fi was sent before the previous one was answered."
            return end(connection, Goodbye(.limit, detail), now: now, &actions)
        }
        let detail: String? =
            switch order {
            case .join(let network, _): "the Wi-Fi network \(network.name)"
            case .remove(let name): "without the Wi-Fi network \(name)"
            case .setUp: "the setup of Wi-Fi"
            case .ask: nil
            }
        if let detail {
            guard spendWrites(1, for: .manage_wifi, of: connection, now: now) else { return }
            note(.configured, of: connection, detail)
        }
        var established = established
        established.awaitsWiFi = true
        sessions[connection]?.phase = .established(established)
        actions.append(.shell(.manageWiFi(connection, order)))
    }

    mutating func answer(wiFi answer: Result<WiFiReport, Refusal>, on connection: ConnectionID) {
        // The session may have ended since its request.
        guard case .established(var established) = sessions[connection]?.phase, established.awaitsWiFi else { return }
        established.awaitsWiFi = false
        sessions[connection]?.phase = .established(established)
        guard established.role.may(.manage_wifi) else {
            return refuse(.manage_wifi, established.role, to: connection)
        }
        switch answer {
        case .success(let report): sessions[connection]?.say { $0.wifi = WireWifiStatus(report) }
        case .failure(let refusal): refuse(.manage_wifi, refusal, to: connection)
        }
    }
}
