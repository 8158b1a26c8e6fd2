import ConfigurationFiles
import DNSWire
import LinuxNetwork
import ServiceDiscovery
import UnicastDNS

extension ConfigurationReader {
    /// Reads the domain in which the plug registers itself, or returns nil if the file names none or has a mistake.
    func wideArea(file: String) -> DomainSettings? {
        let table = table("wide_area")
        let domain = table.text("domain", "a domain", longest: 253).flatMap { text -> Name? in
            guard let name = try? Name(presentation: text), name != .root, name != DiscoveryNode.domain else {
                table.wrong(.invalid("\"\(text)\" is not a domain of a name server"), "domain")
                return nil
            }
            return name
        }
        let server = table.text("server", "an IP address").flatMap { text -> IPAddress? in
            guard let address = IPAddress(text: text), !address.isLinkLocal else {
                table.wrong(.invalid("\"\(text)\" is not an IP address that is valid beyond one link"), "server")
                return nil
            }
            return address
        }
        let port = table.integer("port", 1...65_535).map { UInt16($0) } ?? ResolverConfiguration.port
        let access = access(table, file: file)
        let mapsPort = table.boolean("map_port") ?? false
        guard table.isThere else { return nil }
        let required = [("domain", "the domain"), ("server", "the address of its name server")]
        for (key, what) in required where !table.has(key) { table.wrong(.missing(what), key) }
        guard let domain, let server, let access else { return nil }
        return DomainSettings(domain: domain, server: server, port: port, access: access, mapsPort: mapsPort)
    }

    private enum Method: String, CaseIterable { case update, srp }

    private func access(_ table: Table, file: String) -> DomainSettings.Access? {
        let method = table.choice("method", Method.self) ?? .update
        let keyFile = table.path("key_file", "a file with a key", beside: file, home: nil)
        switch method {
        case .update:
            if table.isThere, !table.has("key_file") { table.wrong(.missing("the file with the key"), "key_file") }
            return keyFile.map { .sharedKey(file: $0) }
        case .srp:
            if table.has("key_file") {
                table.wrong(.needless("with method = \"srp\" the plug makes its own key"), "key_file")
            }
            return .firstCome
        }
    }
}
