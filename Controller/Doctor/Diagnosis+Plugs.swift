import PlugModel
import ProtocolCore

extension Diagnosis {
    static func ofPlugs(_ seen: Observations) -> [Finding] {
        if let fault = seen.controllerFault {
            let (what, hint) = parts(fault)
            return [Finding(.problem, .controller, what, next: hint ?? "mend that first")]
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
                "it is paired, and not announced (its id is \(plug.id))",
                why: "it has no power, is on another network, or what it says is lost on the way",
                next: "check its power and its network, and run `plugd check` and `plugd status` on it; "
                    + "if it is gone for good: plugctl unpair \"\(name)\" --here-only")
        case .connected(_?, let tripped?):
            return problem(
                "its protection tripped (\(tripped.rawValue)), and it stays off until somebody resets it",
                next: "when the cause is gone, press its button or run `plugctl reset \"\(name)\" --protection`")
        case .connected(let roundTrip?, nil):
            let renamed = name == plug.name ? "" : "; it was called \(plug.name) when it was paired"
            return Finding(
                .ok, .plug, name,
                "its key is the one that was pinned, and it answers in \(milliseconds(roundTrip))\(renamed)")
        case .connected(nil, _):
            return problem(
                "it took the connection and ended it before it answered",
                next: "run this again; if it stays so, look at the log of its plugd")
        case .silent:
            return problem(
                "no connection within \(seconds(wait))", why: "nothing answers at its address, not even with a refusal",
                next: "look whether a firewall stands between, and give it longer with --wait 10s")
        case .away(let words):
            let (what, hint) = parts(words)
            return problem(what, next: hint ?? "look whether it restarts, or a firewall stands between; run this again")
        case .incompatible(let words):
            let (what, hint) = parts(words)
            return problem(what, next: hint ?? "update the older of both")
        case .distrusted(let words):
            let (what, hint) = parts(words)
            return problem(what, next: hint ?? "pair it anew: plugctl pair \"\(name)\", with the code on its label")
        }
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let tenths = duration.wholeNanoseconds / 100_000
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
