public import PlugTopics

extension BrokerNotice {
    /// Returns the notice as text for a user.
    ///
    /// - Parameter place: the location of the settings, such as a file's name.
    public func words(_ settings: BrokerSettings, in place: String) -> String {
        switch self {
        case .connected(let server):
            return "the broker \(settings.account.servers[server].text) is connected"
        case .lost(let reason): return "the broker is lost: \(reason)"
        case .takenOver:
            return
                "another program speaks to the broker with the same identity: this one says nothing there for ten minutes\n"
                + "hint: end one of the two; see Documentation/how-to/fleet.md, \"Move a daemon\""
        case .unsteady:
            return
                "connections to the broker end as soon as they begin, maybe since another program has the same identity there\n"
                + "hint: see the broker's log, and Documentation/how-to/fleet.md, \"Move a daemon\""
        case .unreachable(let reason):
            let servers = settings.account.servers.map(\.text).joined(separator: ", ")
            return "no broker is reached at \(servers): \(reason)\n"
                + "hint: events wait; the broker has to speak MQTT 5; see host and tls in \(place)"
        case .notTaken(let topic, let reason):
            return "the broker does not take \(topic): \(reason)\nhint: see its access rules, and the room that it has"
        case .left(let count):
            return "the broker was away too long: \(count) events found no room, and it does not hear of them"
        case .refused(let count, let topic, let reason):
            return
                "refused \(count == 1 ? "a request" : "\(count) requests") from the broker, the last on \(topic): \(reason)"
        }
    }
}
