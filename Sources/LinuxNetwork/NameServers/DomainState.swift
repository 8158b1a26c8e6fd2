public import DNSWire
public import ServiceDiscovery
public import UnicastDNS

/// The content of a domain, as the host's name servers report it.
public enum DomainState: Hashable, Sendable {
    /// The domain exists, and lists this number of services of the type.
    case lists(services: Int)
    /// No name server knows the domain.
    case doesNotExist
    /// No name server answered.
    case unreachable(ResolverError)
}

extension Discovery {
    /// Asks the name servers whether the domain exists, and which services of a type it lists. Takes at most about 30 s,
    /// if no server answers.
    public func state(of domain: Name, listing type: ServiceType) async -> DomainState {
        guard let list = try? type.base.name(in: domain) else { return .doesNotExist }
        do throws(ResolverError) {
            let services = try await answer(to: Question(name: list, type: .ptr)).records
            if !services.isEmpty { return .lists(services: services.count) }
            let exists = try await answer(to: Question(name: domain, type: .soa)).nameExists
            return exists ? .lists(services: 0) : .doesNotExist
        } catch {
            return .unreachable(error)
        }
    }

    func answer(to question: Question) async throws(ResolverError) -> ResolvedRecords {
        guard !isStopped else { throw .noServers }
        return try await withCheckedContinuation { (waiter: CheckedContinuation<Result<_, _>, Never>) in
            domainServices.ask(question) { waiter.resume(returning: $0) }
        }.get()
    }
}
