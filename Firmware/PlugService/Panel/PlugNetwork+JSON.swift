import JSONText
import PlugModel
import ProtocolCore

extension PlugNetwork {
    /// Returns an object with `name`, `role` (manage or observe), `reason`, `hardwareAddress`, `addresses` and
    /// `conflicts`. Optional members: `linkLocal`, and `lease` with `address`, `server`, `router` and `expiresIn` in
    /// seconds.
    func json(now: Instant) -> JSONObject {
        var network = JSONObject()
        network.add("name", name)
        network.add("role", isManaged ? "manage" : "observe")
        network.add("reason", reason)
        network.add("hardwareAddress", hardwareAddress)
        network.add("addresses", addresses)
        network.add("conflicts", conflicts)
        if let linkLocal { network.add("linkLocal", linkLocal) }
        if let lease { network.add("lease", lease.json(now: now)) }
        return network
    }
}

extension PlugNetwork.Lease {
    fileprivate func json(now: Instant) -> JSONObject {
        var lease = JSONObject()
        lease.add("address", address)
        lease.add("server", server)
        if let router { lease.add("router", router) }
        if let expires { lease.add("expiresIn", max(0, (expires - now).components.seconds)) }
        return lease
    }
}
