import LinuxNetwork

extension Diagnosis {
    static func ofDomains(_ seen: Observations) -> [Finding] {
        seen.domains.map { domain in
            switch domain.state {
            case .lists(services: 0):
                Finding(
                    .warning, .domain, domain.name, "it lists no plug",
                    next: "let a plug register itself with [wide_area] in its plugd.toml, or enter its records")
            case .lists(let count):
                Finding(.ok, .domain, domain.name, count == 1 ? "it lists one plug" : "it lists \(count) plugs")
            case .doesNotExist:
                Finding(
                    .problem, .domain, domain.name, "the name servers know no such domain",
                    why: "it is misspelled, or its parent domain does not delegate it",
                    next: "check --domain, and ask the server of the domain: dig @SERVER \(domain.name) SOA")
            case .unreachable(let error): unreachable(domain.name, parts("\(error)"))
            }
        }
    }

    private static func unreachable(_ domain: String, _ error: (what: String, hint: String?)) -> Finding {
        Finding(
            .problem, .domain, domain, error.what, why: "plugs in this domain cannot be found",
            next: error.hint ?? "check the servers in /etc/resolv.conf, and whether they answer: dig \(domain) SOA")
    }
}
