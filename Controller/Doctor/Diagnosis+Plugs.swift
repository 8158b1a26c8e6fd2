import PlugModel
import ProtocolCore

extension Diagnosis {
    static func ofPlugs(_ seen: Observations) -> [Finding] {
        if let fault = seen.controllerFault {
            let (what, hint) = parts(fault)
            return [Finding(.problem, .controller, what, next: hint ?? "fix this first")]
        }
        guard !seen.plugs.isEmpty else {
            return [
                Finding(
                    .ok, .controller, "no plug is paired yet",
                    next: "plugctl pair NAME, with the code on the plug's label")
            ]
        }
        return seen.plugs.flatMap { plug in
            [finding(plug, wait: seen.wait)] + (crash(of: plug, now: seen.clock.last.sinceBoot).map { [$0] } ?? [])
                + registration(of: plug) + reachability(of: plug)
                + (seen.keptAway[plug.id].map { [keptAway(plug, $0)] } ?? [])
        }
    }

    /// Describes a plug that the daemon does not follow, although it may be reachable.
    private static func keptAway(_ plug: Observations.Plug, _ words: String) -> Finding {
        let (what, hint) = parts(words)
        return Finding(
            .problem, .plug, plug.announcedAs ?? plug.name, what,
            next: hint ?? "plugctl daemon quarantine --lift \(plug.id)")
    }

    private static func finding(_ plug: Observations.Plug, wait: Duration) -> Finding {
        let name = plug.announcedAs ?? plug.name
        func problem(_ what: String, why: String? = nil, next: String) -> Finding {
            Finding(.problem, .plug, name, what, why: why, next: next)
        }
        switch plug.outcome {
        case .absent:
            return problem(
                "it is paired but not announced (its id is \(plug.id))",
                why: "it has no power, is on a different network, or its multicast does not reach this host",
                next: "check its power and its network, and run `plugd check` and `plugd status` on it; "
                    + "if it no longer exists: plugctl unpair \"\(name)\" --here-only")
        case .connected(_?, let tripped?):
            return problem(
                "its protection tripped (\(tripped.rawValue)); it stays off until the protection is reset",
                next: "remove the cause, then press its button or run `plugctl reset \"\(name)\" --protection`")
        case .connected(let roundTrip?, nil):
            let renamed = name == plug.name ? "" : "; it was paired as \(plug.name)"
            return Finding(
                .ok, .plug, name,
                "its key matches the pinned key, and it answers in \(milliseconds(roundTrip))\(renamed)")
        case .connected(nil, _):
            return problem(
                "it accepted the connection and closed it before it answered",
                next: "run this again; if the problem persists, check the plug's log")
        case .silent:
            return problem(
                "no connection within \(seconds(wait))", why: "its address does not respond at all",
                next: "check for a firewall in between, or wait longer with --wait 10s")
        case .away(let words):
            let (what, hint) = parts(words)
            return problem(
                what, next: hint ?? "check whether it is restarting or a firewall is in between; then run this again")
        case .incompatible(let words):
            let (what, hint) = parts(words)
            return problem(what, next: hint ?? "update the older of the two")
        case .distrusted(let words):
            let (what, hint) = parts(words)
            return problem(what, next: hint ?? "pair it again: plugctl pair \"\(name)\", with the code on its label")
        }
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let tenths = duration.wholeNanoseconds / 100_000
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
