import DNSWire
import Foundation
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN
import SleepProxy
import Testing

@Suite("Simulated link")
struct SimulatedLinkTests {
    @Test("With losses, attacks, a restart and a second proxy no invariant is violated, and each host can be reached")
    func link() throws {
        try SeedPlan(environment: ProcessInfo.processInfo.environment).run { (seed) throws(SimulationFailure) in
            var link = SimulatedLink(seed: seed)
            let start = link.now
            try link.run(until: start + .seconds(60))
            // The second proxy appears, and the first one restarts.
            link.perform(link.proxies[1].start(now: link.now), of: 1)
            try link.updateProxies()
            try link.run(until: start + .seconds(120))
            link.proxies[0].kill()
            try link.run(until: start + .seconds(123))
            link.perform(link.proxies[0].start(now: link.now), of: 0)
            try link.updateProxies()
            try link.run(until: start + .seconds(240))
            // Without disturbance the budgets refill, the forged leases end, and every host falls asleep.
            link.isDisturbed = false
            link.client.accepted = [:]
            try link.run(until: start + .seconds(420))
            for index in link.hosts.indices {
                let accepted = link.client.accepted[index]
                try link.require(accepted != nil, "host \(index), \(link.hosts[index].state), was not reached")
            }
            let represented = link.proxies.flatMap { $0.machine?.report.sleepers ?? [] }
                .filter { $0.state == .asleep }.flatMap(\.addresses)
            try link.require(
                represented.count == Set(represented).count, "both proxies represent a host: \(represented)")
        }
    }
}

extension SimulatedLink {
    /// Each proxy learns the names of the others.
    mutating func updateProxies() throws(SimulationFailure) {
        for index in proxies.indices {
            let others = proxies.indices.filter { $0 != index && proxies[$0].machine != nil }.map { proxies[$0].name }
            try handle(.proxies(others), at: index)
        }
    }
}
