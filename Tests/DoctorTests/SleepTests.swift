import Doctor
import MulticastDNS
import ServiceDiscovery
import SleepClient
import Testing

/// Findings about sleep proxies.
@Suite struct SleepTests {
    private func found(_ fault: String? = nil, _ proxies: [FoundSleepProxy] = []) -> [Finding] {
        var seen = healthy()
        seen.sleep = Observations.Sleep(proxies: proxies, fault: fault)
        return Diagnosis.findings(seen).filter { $0.subject == .sleep }
    }

    private func proxy(_ name: String, _ last: UInt8, on interface: UInt32 = 2) throws -> FoundSleepProxy {
        FoundSleepProxy(
            name: try #require(SleepProxyName(name)), peer: Peer(address: .v4(192, 0, 2, last), port: 4000),
            interface: interface)
    }

    @Test("The best proxy of an interface is named, with the number of proxies") func best() throws {
        let proxies = [try proxy("70-35-60-70.1 Computer", 3), try proxy("20-35-60-70.1 Plug", 4)]
        #expect(
            found(nil, proxies) == [
                Finding(
                    .ok, .sleep, "eth0",
                    "the sleep proxy Plug (192.0.2.4) represents this machine while it sleeps; it is the best of 2")
            ])
    }

    @Test("Without a proxy, or with one only on another interface, the finding states that the network has none")
    func none() throws {
        for proxies in [[], [try proxy("20-35-60-70.1 Plug", 4, on: 9)]] {
            #expect(found(nil, proxies).map(\.what) == ["no sleep proxy on the network"])
        }
    }

    @Test("Without logind the reason is reported, and it is neither a warning nor a problem") func withoutLogind() {
        let findings = found("libsystemd.so.0 is missing")
        #expect(
            findings.map(\.what) == ["the daemon on this machine cannot use a sleep proxy: libsystemd.so.0 is missing"])
        #expect(findings.map(\.level) == [.ok])
    }
}
