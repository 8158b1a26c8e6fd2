import PlugModel
import ProtocolCore

extension PlugNetwork {
    /// One object: `name`, `role` (manage or observe), `reason`, `hardwareAddress`, `addresses`, `conflicts`; where there are such,
    /// `linkLocal`, and `lease` with `address`, `server`, `router` and `expiresIn` in seconds.
    func json(now: Instant) -> String {
        var fields = [
            field("name", name), field("role", isManaged ? "manage" : "observe"), field("reason", reason),
            field("hardwareAddress", hardwareAddress),
            "\"addresses\":[\(addresses.map(quoted).joined(separator: ","))]", "\"conflicts\":\(conflicts)",
        ]
        if let linkLocal { fields.append(field("linkLocal", linkLocal)) }
        if let lease {
            var parts = [field("address", lease.address), field("server", lease.server)]
            if let router = lease.router { parts.append(field("router", router)) }
            if let expires = lease.expires {
                parts.append("\"expiresIn\":\(max(0, (expires - now).components.seconds))")
            }
            fields.append("\"lease\":{\(parts.joined(separator: ","))}")
        }
        return "{\(fields.joined(separator: ","))}"
    }
}
