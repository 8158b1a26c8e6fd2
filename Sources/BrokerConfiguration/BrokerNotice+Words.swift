public import PlugTopics

extension BrokerNotice {
    /// Returns the notice as text for a user.
    ///
    /// - Parameter place: the location of the settings, such as a file's name.
    public func words(_ settings: BrokerSettings, in place: String) -> String {
        switch self {
        case .connected(let server):
            return "the broker \(settings.account.servers[server].text) is connected"
        case .lost(let reason): return "lost the connection to the broker: \(reason)"
        case .takenOver:
            return
                "another program uses the same identity at the broker, so this one disconnects for ten minutes\n"
                + "hint: stop one of the two; see Documentation/how-to/fleet.md, \"Move a daemon\""
        case .unsteady:
            return
                "connections to the broker are closed at once, maybe because another program uses the same identity\n"
                + "hint: see the broker's log, and Documentation/how-to/fleet.md, \"Move a daemon\""
        case .unreachable(let reason):
            let servers = settings.account.servers.map(\.text).joined(separator: ", ")
            return "cannot reach a broker at \(servers): \(reason)\n"
                + "hint: events are buffered; check host and tls in \(place); the broker must support MQTT 5"
        case .notTaken(let topic, let reason):
            return "the broker rejects \(topic): \(reason)\nhint: check its access rules and its free space"
        case .left(let count):
            return "the broker was away too long; \(count) events did not fit into the buffer and are not sent"
        case .refused(let count, let topic, let reason):
            return
                "refused \(count == 1 ? "a request" : "\(count) requests") from the broker, the last on \(topic): \(reason)"
        }
    }
}
