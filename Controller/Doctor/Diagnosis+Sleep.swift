import HostSleep
import LinuxNetwork
import SleepClient

extension Diagnosis {
    /// Names the sleep proxy that would represent this machine on each interface while it sleeps. A machine without
    /// logind or without a proxy works too, so these findings are not warnings.
    static func ofSleep(_ seen: Observations) -> [Finding] {
        guard let sleep = seen.sleep else { return [] }
        if let fault = sleep.fault {
            return [
                Finding(
                    .ok, .sleep, "the daemon on this machine cannot use a sleep proxy: \(fault)",
                    why: "suspends are followed through systemd-logind, with libsystemd")
            ]
        }
        let interfaces = seen.interfaces.filter { interface in
            sleep.proxies.contains { $0.interface == UInt32(bitPattern: interface.index) }
        }
        guard !interfaces.isEmpty else {
            return [
                Finding(
                    .ok, .sleep, "no sleep proxy on the network",
                    why: "while this machine sleeps, other hosts cannot find or wake it")
            ]
        }
        return interfaces.compactMap { interface in
            let proxies = FoundSleepProxy.sorted(
                sleep.proxies.filter { $0.interface == UInt32(bitPattern: interface.index) })
            guard let best = proxies.first else { return nil }
            let others = Set(proxies.map(\.name)).count - 1
            let rest = others == 0 ? "" : "; it is the best of \(others + 1)"
            return Finding(
                .ok, .sleep, interface.name,
                "the sleep proxy \(best.name.name) (\(best.peer.address)) represents this machine while it sleeps\(rest)"
            )
        }
    }
}
