import DNSWire
import MulticastDNS
import Testing

@testable import UnicastDNS

@Suite struct ResolverConfigurationTests {
    private func parsed(_ text: String) -> ResolverConfiguration {
        ResolverConfiguration(resolvConf: text) { text in
            let bytes = text.split(separator: ".").compactMap { UInt8($0) }
            return bytes.count == 4 ? IPAddress(bytes: bytes) : nil
        }
    }

    @Test("Servers are read as by the C library") func text() {
        let configuration = parsed(
            """
            # written by DHCP
            domain old.example
            nameserver 10.0.0.1
            nameserver\t10.0.0.2   extra
            nameserver 10.0.0.1
            nameserver ten
            nameserver
            options ndots:2
            search example.org lan example.org . \(String(repeating: "x", count: 64)).org
            """)
        #expect(configuration.servers == [home, spare])
        #expect(configuration.searchDomains == ["example.org", "lan"])
        #expect(parsed("search example.org\ndomain lan\nsearch").searchDomains == ["lan"])
        #expect(parsed("") == ResolverConfiguration())
    }

    @Test("The number of servers is limited") func limit() {
        let servers = (1...9).map { "nameserver 10.0.0.\($0)\n" }.joined()
        #expect(parsed(servers).servers.count == ResolverConfiguration.serverLimit)
    }
}
