import Doctor
import LinuxNetwork
import Testing
import UnicastDNS

/// Findings about domains of name servers.
@Suite struct DomainTests {
    private func found(_ state: DomainState) -> [Finding] {
        var seen = healthy()
        seen.domains = [Observations.Domain(name: "example.org", state: state)]
        return Diagnosis.findings(seen).filter { $0.subject == .domain }
    }

    @Test("The number of plugs is reported, and a domain without plugs is a warning") func lists() {
        #expect(found(.lists(services: 1)) == [Finding(.ok, .domain, "example.org", "it lists one plug")])
        #expect(found(.lists(services: 7)).map(\.what) == ["it lists 7 plugs"])
        #expect(found(.lists(services: 0)).map(\.level) == [.warning])
    }

    @Test("A domain that does not exist, and servers that do not answer, are problems with hints") func problems() {
        for state in [DomainState.doesNotExist, .unreachable(.timeout), .unreachable(.noServers)] {
            let findings = found(state)
            #expect(findings.map(\.level) == [.problem] && findings.allSatisfy { $0.next?.isEmpty == false })
        }
        #expect(found(.unreachable(.serverFailure(code: 2))).map(\.what) == ["the name servers cannot answer (code 2)"])
    }

    @Test("Without --domain, no finding is about a domain") func noDomain() {
        #expect(!Diagnosis.findings(healthy()).contains { $0.subject == .domain })
    }
}
