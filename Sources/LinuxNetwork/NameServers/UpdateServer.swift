import DNSWire
import ServiceDiscovery
import UnicastDNS

extension Discovery {
    /// Finds the server that accepts registrations in a domain: the primary server of the zone (RFC 2136 §4.3), or the
    /// registrar that the domain lists (RFC 9665 §3.1.3).
    ///
    /// - Returns: the first address of the server, and its TCP port.
    func updateServer(
        of domain: Name, for access: DomainSettings.Access
    ) async throws(ZoneFailure) -> (address: IPAddress, port: UInt16) {
        let found: (address: IPAddress, port: UInt16)?
        do throws(ResolverError) {
            found = try await server(of: domain, for: access)
        } catch {
            throw .serverUnknown(error)
        }
        guard let found else { throw .serverUnknown(nil) }
        return found
    }

    private func server(
        of domain: Name, for access: DomainSettings.Access
    ) async throws(ResolverError) -> (address: IPAddress, port: UInt16)? {
        guard let (host, port) = try await serverName(of: domain, for: access) else { return nil }
        for type in [RecordType.a, .aaaa] {
            for record in try await answer(to: Question(name: host, type: type)).records {
                switch record.data {
                case .a(let address): return (.v4(address), port)
                case .aaaa(let address): return (.v6(address), port)
                case .ptr, .srv, .txt, .nsec, .other: continue
                }
            }
        }
        return nil
    }

    private func serverName(
        of domain: Name, for access: DomainSettings.Access
    ) async throws(ResolverError) -> (host: Name, port: UInt16)? {
        switch access {
        case .sharedKey:
            let records = try await answer(to: Question(name: domain, type: .soa)).records
            return records.lazy.compactMap(\.primaryServer).first.map { ($0, ResolverConfiguration.port) }
        case .firstCome:
            guard let name = try? ServiceType.registrar.name(in: domain) else { return nil }
            for case .srv(_, _, let port, let host) in try await answer(to: Question(name: name, type: .srv)).records
                .map(\.data) where host != .root
            {
                return (host, port)
            }
            return nil
        }
    }
}

extension ServiceType {
    /// The type of registrars of the Service Registration Protocol over TCP.
    fileprivate static let registrar: ServiceType = "_dnssd-srp._tcp"
}
