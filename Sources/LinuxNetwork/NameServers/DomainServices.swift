import DNSWire
import LinuxSystem
import Logging
import MulticastDNS
import NIOCore
import ProtocolCore
import ServiceDiscovery
import UnicastDNS

/// Browses and resolves services in the domains of name servers: connects the machines of UnicastDNS to sockets, to the
/// time and to resolv.conf. All methods must be called on the event loop.
final class DomainServices: @unchecked Sendable {
    /// A change for the owner of a search.
    enum Report: Sendable {
        case browse(BrowseID, ServiceChange)
        case resolve(ResolveID, Resolution)
    }

    /// A search that runs until its owner ends it.
    private struct Search {
        enum Owner: Hashable {
            case browse(BrowseID)
            case resolve(ResolveID)
        }

        let owner: Owner
        let type: ServiceType
        let domain: Name
        /// True for a browse of a domain that the network recommends.
        let isRecommended: Bool
        var machine: DomainBrowser
        /// The attributes of the services that a browse has reported.
        var reported: [ServiceIdentity: TXTRecord] = [:]
        /// The last failure, which is logged once.
        var failure: ResolverError?

        func identity(_ instance: Name) -> ServiceIdentity? {
            ServiceIdentity(instance: instance, type: type, domain: domain, interface: nil)
        }
    }

    /// A search for recommended domains.
    private struct Enumeration {
        var machine: DomainEnumerator
        /// Called with the recommended domains after each answer. The second argument is false while lists are missing.
        let report: ([Name], Bool) -> Void
    }

    /// The live updates of a domain, for all its searches.
    private struct Push {
        let number: UInt64
        var client: PushClient
        var connection: PushConnection?
    }

    private enum Action {
        case resolver(StubResolver.Action)
        /// An action of the search with this number in this domain.
        case search(UInt64, Name, DomainBrowser.Action)
        case enumeration(DomainEnumerator.Action)
        /// An action of the client for this domain.
        case push(Name, PushClient.Action)
    }

    private let eventLoop: any EventLoop
    private let logger: Logger
    private let report: @Sendable (Report) -> Void
    private var resolver = StubResolver(random: SystemRandomNumberGenerator())
    private var files: ResolverFiles
    private var servers = ResolverConfiguration()
    private var searches: [UInt64: Search] = [:]
    private var enumerations: [UInt64: Enumeration] = [:]
    /// The live updates of each domain that was searched. They remain after the last search, because they remember when
    /// the next attempt is due.
    private var pushes: [Name: Push] = [:]
    /// The number of searches, enumerations and live updates so far. The upper half of a query's id is such a number.
    private var lastNumber: UInt64 = 0
    /// The browses that include the recommended domains.
    private var recommended: [BrowseID: ServiceType] = [:]
    /// The domains to browse automatically, as the network recommends them; empty before the first browse that includes
    /// them.
    private(set) var automatic: [Name] = []
    private var isEnumerating = false
    /// The names of the networks of this host.
    private var networks: [Name]
    /// The single questions, whose ids are below those of all searches.
    private var single: [QueryID: (Result<ResolvedRecords, ResolverError>) -> Void] = [:]
    private var lastSingle: UInt32 = 0
    private var exchanges: [ExchangeID: NameServerExchange] = [:]
    private let actions = ActionQueue<Action>()
    private var timer = DeadlineTimer()

    /// - Parameters:
    ///   - files: the files with the name servers.
    ///   - networks: the names of the networks of this host.
    ///   - report: called on the event loop with each change.
    init(
        files: ResolverFiles, networks: [Name], on eventLoop: any EventLoop, logger: Logger,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.files = files
        self.networks = networks
        self.eventLoop = eventLoop
        self.logger = logger
        self.report = report
    }

    /// Starts to browse a domain. One id may browse several domains.
    func browse(_ id: BrowseID, _ type: ServiceType, in domain: Name) { browse(id, type, in: domain, false) }

    private func browse(_ id: BrowseID, _ type: ServiceType, in domain: Name, _ isRecommended: Bool) {
        begin(.browse(id), type, in: domain, isRecommended) { first throws(NameError) in
            try DomainBrowser(type, in: domain, firstQuery: first)
        }
    }

    /// Starts to browse the domains that the network recommends. The host asks for them until everything ends.
    func browseRecommended(_ id: BrowseID, _ type: ServiceType) {
        recommended[id] = type
        for domain in automatic { browse(id, type, in: domain, true) }
        guard !isEnumerating else { return }
        isEnumerating = true
        _ = enumerate(.automaticBrowsing) { [weak self] domains, _ in self?.browse(automatic: domains) }
    }

    /// Begins and ends browses after a change of the recommended domains.
    private func browse(automatic domains: [Name]) {
        guard domains != automatic else { return }
        automatic = domains
        for (number, search) in searches.sorted(by: { $0.key < $1.key }) {
            guard search.isRecommended, !domains.contains(search.domain) else { continue }
            if case .browse(let id) = search.owner {
                for identity in search.reported.keys { report(.browse(id, .lost(identity))) }
            }
            end(number)
        }
        for (id, type) in recommended {
            let browsed = searches.values.filter { $0.owner == .browse(id) }.map(\.domain)
            for domain in domains where !browsed.contains(domain) { browse(id, type, in: domain, true) }
        }
    }

    /// Starts to search for recommended domains.
    ///
    /// - Parameter report: called with the domains after each answer, and with false while lists are missing. If
    ///   the host has neither search domains nor networks, it is called at once.
    /// - Returns: the number of the enumeration, for ``end(enumeration:)``.
    func enumerate(_ purpose: DomainEnumerator.Purpose, report: @escaping ([Name], Bool) -> Void) -> UInt64 {
        let number = nextNumber()
        let machine = DomainEnumerator(purpose, firstQuery: QueryID(rawValue: number << 32))
        enumerations[number] = Enumeration(machine: machine, report: report)
        readServers()
        handle(.refresh(parents), byEnumeration: number)
        return number
    }

    /// Ends an enumeration.
    func end(enumeration number: UInt64) {
        handle(.stop, byEnumeration: number)
        enumerations[number] = nil
    }

    /// The names below which a network lists recommended domains.
    private var parents: [Name] { servers.searchDomains + networks }

    /// Starts to resolve a service.
    func resolve(_ id: ResolveID, _ identity: ServiceIdentity) {
        guard let domain = try? Name(presentation: identity.domain), let name = try? identity.instanceName() else {
            return
        }
        begin(.resolve(id), identity.type, in: domain, false) { first in DomainBrowser(service: name, firstQuery: first)
        }
    }

    private func begin(
        _ owner: Search.Owner, _ type: ServiceType, in domain: Name, _ isRecommended: Bool,
        _ machine: (QueryID) throws(NameError) -> DomainBrowser
    ) {
        let number = nextNumber()
        guard let machine = try? machine(QueryID(rawValue: number << 32)) else {
            return logger.error("cannot browse \(domain): the name is too long for a domain of services")
        }
        if pushes[domain] == nil {
            let pushNumber = nextNumber()
            let client = PushClient(
                firstQuery: QueryID(rawValue: pushNumber << 32), random: SystemRandomNumberGenerator())
            pushes[domain] = Push(number: pushNumber, client: client)
        }
        searches[number] = Search(
            owner: owner, type: type.base, domain: domain, isRecommended: isRecommended, machine: machine)
        handle(.refresh, by: number)
    }

    private func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Asks a single question.
    ///
    /// - Parameter answer: called once on the event loop, at the latest when everything ends.
    func ask(_ question: Question, answer: @escaping (Result<ResolvedRecords, ResolverError>) -> Void) {
        lastSingle &+= 1
        let id = QueryID(rawValue: UInt64(lastSingle))
        single[id] = answer
        readServers()
        handle(.ask(id, question))
    }

    /// Ends the browse of all domains of this id.
    func end(_ id: BrowseID) {
        recommended[id] = nil
        end { $0 == .browse(id) }
    }

    /// Ends the resolve.
    func end(_ id: ResolveID) { end { $0 == .resolve(id) } }

    private func end(_ isIncluded: (Search.Owner) -> Bool) {
        for number in searches.filter({ isIncluded($0.value.owner) }).keys.sorted() { end(number) }
    }

    private func end(_ number: UInt64) {
        handle(.stop, by: number)
        searches[number] = nil
    }

    /// Asks all questions again, because the network changed.
    ///
    /// - Parameter networks: the names of the networks of this host.
    func refresh(networks: [Name]) {
        self.networks = networks
        for domain in domains { handle(.networkChanged, in: domain) }
        for number in enumerations.keys.sorted() { handle(.refresh(parents), byEnumeration: number) }
        for number in searches.keys.sorted() { handle(.refresh, by: number) }
    }

    /// Ends everything.
    func stop() {
        for number in enumerations.keys.sorted() { end(enumeration: number) }
        end { _ in true }
        for answer in single.values { answer(.failure(.noServers)) }
        single = [:]
        timer.stop()
    }

    private func handle(_ event: StubResolver.Event) {
        perform(resolver.handle(event, now: BootClock.now).map(Action.resolver))
    }

    private func handle(_ event: DomainBrowser.Event, by number: UInt64) {
        guard let domain = searches[number]?.domain else { return }
        perform(searches[number]?.machine.handle(event, now: BootClock.now).map { .search(number, domain, $0) } ?? [])
    }

    private func handle(_ event: DomainEnumerator.Event, byEnumeration number: UInt64) {
        perform(enumerations[number]?.machine.handle(event, now: BootClock.now).map(Action.enumeration) ?? [])
        guard let enumeration = enumerations[number] else { return }
        enumeration.report(enumeration.machine.domains, enumeration.machine.isComplete)
    }

    private func handle(_ event: PushClient.Event, in domain: Name) {
        perform(pushes[domain]?.client.handle(event, now: BootClock.now).map { .push(domain, $0) } ?? [])
    }

    /// The domains with live updates, the oldest first.
    private var domains: [Name] { pushes.sorted { $0.value.number < $1.value.number }.map(\.key) }

    private func perform(_ new: [Action]) {
        actions.perform(new) { action in
            switch action {
            case .resolver(let action): perform(action)
            case .search(let number, let domain, let action): perform(action, of: number, in: domain)
            case .enumeration(let action): perform(action)
            case .push(let domain, let action): perform(action, in: domain)
            }
        }
        guard !actions.isPerforming else { return }
        var deadline = searches.values.reduce(resolver.nextDeadline) { sooner($0, $1.machine.nextDeadline) }
        deadline = enumerations.values.reduce(deadline) { sooner($0, $1.machine.nextDeadline) }
        deadline = pushes.values.reduce(deadline) { sooner($0, $1.client.nextDeadline) }
        timer.follow(deadline, now: BootClock.now, on: eventLoop) { [weak self] in self?.deadlineReached() }
    }

    /// Reads the list of servers if it has changed. The C library also checks the file before each question.
    private func readServers() {
        guard let configuration = files.change() else { return }
        servers = configuration
        handle(.configured(configuration))
        for number in enumerations.keys.sorted() { handle(.refresh(parents), byEnumeration: number) }
    }

    private func deadlineReached() {
        // A host that moves receives its servers after its address.
        readServers()
        handle(.deadlineReached)
        for number in searches.keys.sorted() { handle(.deadlineReached, by: number) }
        for number in enumerations.keys.sorted() { handle(.deadlineReached, byEnumeration: number) }
        for domain in domains { handle(.deadlineReached, in: domain) }
    }

    private func perform(_ action: StubResolver.Action) {
        switch action {
        case .send(let id, let bytes, let server, let transport):
            exchanges[id] = NameServerExchange(
                bytes, to: SocketAddress(server.address, port: server.port, interface: 0), transport, on: eventLoop,
                receive: { [weak self] in self?.handle(.received(id, $0)) },
                fail: { [weak self] in self?.handle(.failed(id)) })
        case .close(let id): exchanges.removeValue(forKey: id)?.close()
        case .answer(let id, let result):
            if let answer = single.removeValue(forKey: id) { return answer(result) }
            let number = id.rawValue >> 32
            if enumerations[number] != nil { return handle(.answered(id, result), byEnumeration: number) }
            if let domain = pushes.first(where: { $0.value.number == number })?.key {
                return handle(.answered(id, result), in: domain)
            }
            handle(.answered(id, result), by: number)
        }
    }

    private func perform(_ action: DomainEnumerator.Action) {
        switch action {
        case .ask(let id, let question):
            readServers()
            handle(.ask(id, question))
        case .cancel(let id): handle(.cancel(id))
        }
    }

    private func perform(_ action: PushClient.Action, in domain: Name) {
        switch action {
        case .ask(let id, let question):
            readServers()
            handle(.ask(id, question))
        case .cancel(let id): handle(.cancel(id))
        case .connect(let id, let server, let transport):
            pushes[domain]?.connection = PushConnection(
                to: SocketAddress(server.address, port: server.port, interface: 0), transport, on: eventLoop,
                open: { [weak self] in self?.handle(.connected(id), in: domain) },
                receive: { [weak self] in self?.handle(.received(id, $0), in: domain) },
                fail: { [weak self] in self?.handle(.disconnected(id), in: domain) })
        case .send(_, let message): pushes[domain]?.connection?.send(message)
        case .close:
            pushes[domain]?.connection?.close()
            pushes[domain]?.connection = nil
        case .updated(let question, let records): handle(.pushed(question, records), byAllIn: domain)
        case .ended(let question): handle(.pushEnded(question), byAllIn: domain)
        case .failed(let failure, let pause):
            logger.debug("no live updates of \(domain): \(failure); trying again in \(pause)")
        }
    }

    private func handle(_ event: DomainBrowser.Event, byAllIn domain: Name) {
        for number in searches.filter({ $0.value.domain == domain }).keys.sorted() { handle(event, by: number) }
    }

    private func perform(_ action: DomainBrowser.Action, of number: UInt64, in domain: Name) {
        switch action {
        case .ask(let id, let question):
            readServers()
            handle(.ask(id, question))
        case .cancel(let id): handle(.cancel(id))
        case .follow(let question): handle(.follow(question), in: domain)
        case .unfollow(let question): handle(.unfollow(question), in: domain)
        case .found(let service):
            searches[number]?.failure = nil
            found(service, by: number)
        case .lost(let name): lost(name, by: number)
        case .failed(let error):
            guard let search = searches[number], search.failure != error else { return }
            searches[number]?.failure = error
            logger.warning("cannot search \(search.domain): \(error); trying again")
        }
    }

    private func found(_ service: DomainService, by number: UInt64) {
        guard let search = searches[number], let identity = search.identity(service.name) else { return }
        switch search.owner {
        case .browse(let id):
            let known = searches[number]?.reported.updateValue(service.txt, forKey: identity)
            guard known != service.txt else { return }
            report(
                .browse(id, known == nil ? .found(identity, txt: service.txt) : .changed(identity, txt: service.txt)))
        case .resolve(let id):
            guard !service.addresses.isEmpty else { return }
            let addresses = service.addresses.map { ResolvedService.Address(address: $0, interface: 0) }
            report(
                .resolve(
                    id,
                    .resolved(
                        ResolvedService(
                            identity: identity, hostName: service.host.description, port: service.port,
                            addresses: addresses, txt: service.txt))))
        }
    }

    private func lost(_ name: Name, by number: UInt64) {
        guard let search = searches[number], let identity = search.identity(name) else { return }
        switch search.owner {
        case .browse(let id):
            guard searches[number]?.reported.removeValue(forKey: identity) != nil else { return }
            report(.browse(id, .lost(identity)))
        case .resolve(let id): report(.resolve(id, .gone))
        }
    }
}
