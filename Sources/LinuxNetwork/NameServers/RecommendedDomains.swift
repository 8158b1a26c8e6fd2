public import DNSWire
public import UnicastDNS

extension Discovery {
    /// The domains to browse automatically, as the network recommends them; empty before the first browse that includes
    /// recommended domains.
    public var automaticDomains: [Name] { domains?.automatic ?? [] }

    /// Asks the network once for recommended domains (RFC 6763 §11), below the search domains and the names of the host's
    /// networks. Takes at most about 30 s, if no server answers.
    ///
    /// - Throws: ``NetworkError`` if the kernel does not report the interfaces.
    public func recommendedDomains(for purpose: DomainEnumerator.Purpose) async throws -> [Name] {
        for try await list in InterfaceMonitor.interfaces(interfaces, on: eventLoop) {
            update(list)
            break
        }
        guard !isStopped else { return [] }
        var number: UInt64?
        let names = await withCheckedContinuation { (waiter: CheckedContinuation<[Name], Never>) in
            var waiting: CheckedContinuation<[Name], Never>? = waiter
            number = domainServices.enumerate(purpose) { names, isComplete in
                guard isComplete else { return }
                waiting?.resume(returning: names)
                waiting = nil
            }
        }
        if let number { domains?.end(enumeration: number) }
        return names
    }
}
