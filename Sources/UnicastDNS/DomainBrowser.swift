public import DNSWire
public import ProtocolCore
public import ServiceDiscovery

/// A service that was found in a domain.
public struct DomainService: Hashable, Sendable {
    /// The instance name, such as `Lamp._smartplug._tcp.example.org`.
    public let name: Name
    /// The host of the service.
    public let host: Name
    /// The port.
    public let port: UInt16
    /// The attributes; empty if the service has none.
    public let txt: TXTRecord
    /// The addresses of the host, IPv6 first, each family in the server's order. Empty until they are known.
    public let addresses: [IPAddress]
}

/// Browses a service type in one domain (RFC 6763 §4), or follows one service of a domain. Each record set is asked for
/// again when its answer expires, unless a server pushes its changes.
///
/// The owner connects the browser to a ``StubResolver``, and to a ``PushClient`` if changes should be reported at once.
/// After a failure the known services remain, because a network without a name server may still reach them.
public struct DomainBrowser: Machine, Sendable {
    /// The inputs of the machine.
    public enum Event: MachineEvent, Hashable, Sendable {
        /// Starts, or asks for all records again, because the network changed.
        case refresh
        /// An answer of the resolver.
        case answered(QueryID, Result<ResolvedRecords, ResolverError>)
        /// All records that answer a question, from a server that also reports the next change.
        case pushed(Question, [Record])
        /// The server no longer reports changes of a question.
        case pushEnded(Question)
        /// Ends all questions.
        case stop
        /// The time of ``DomainBrowser/nextDeadline`` was reached.
        case deadlineReached
    }

    /// The outputs of the machine, performed in order.
    public enum Action: Hashable, Sendable {
        case ask(QueryID, Question)
        case cancel(QueryID)
        /// The changes of a question's records are of interest.
        case follow(Question)
        case unfollow(Question)
        /// A service was found, or changed.
        case found(DomainService)
        case lost(Name)
        /// The browse failed for this reason, and is repeated.
        case failed(ResolverError)
    }

    /// The limit of services. A server may list any number.
    public static let serviceLimit = 1000

    private enum Subject {
        /// The question for the list of services, and the part of their names after the first label.
        case type(Question, parent: Name)
        case service(Name)
    }

    private let subject: Subject
    private var questions: PolledQuestions
    /// The reported services.
    private var services: [Name: DomainService] = [:]
    private var output: [Action] = []

    /// Creates a browser that asks nothing before ``Event/refresh``.
    ///
    /// - Parameter firstQuery: the first of the ids that this browser uses. Browsers that share a resolver use different
    ///   ranges.
    /// - Throws: ``NameError`` if the name of the type in the domain is too long.
    public init(_ type: ServiceType, in domain: Name, firstQuery: QueryID) throws(NameError) {
        subject = .type(
            Question(name: try type.name(in: domain), type: .ptr), parent: try type.base.name(in: domain))
        questions = PolledQuestions(firstQuery: firstQuery)
    }

    /// Creates a machine that follows one service, and asks nothing before ``Event/refresh``.
    ///
    /// - Parameter firstQuery: the first of the ids that this machine uses.
    public init(service: Name, firstQuery: QueryID) {
        subject = .service(service)
        questions = PolledQuestions(firstQuery: firstQuery)
    }

    /// The time of the next ``Event/deadlineReached``, or nil.
    public var nextDeadline: Instant? { questions.nextDeadline }

    /// Handles an event at the time `now` and returns the actions to perform.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .refresh:
            questions.refresh()
            questions.replace(with: wanted)
        case .answered(let id, let result):
            guard let (question, isNews, failure) = questions.handle(result, to: id, now: now) else { break }
            if let failure, decides(question) { output.append(.failed(failure)) }
            if isNews { update(after: question) }
        case .pushed(let question, let records):
            if questions.handlePushed(records, for: question) { update(after: question) }
        case .pushEnded(let question): questions.poll(question, now: now)
        case .stop:
            questions.removeAll()
            services = [:]
        case .deadlineReached: break
        }
        defer { output = [] }
        return output
            + questions.takeRequests(now: now).map { request in
                switch request {
                case .ask(let id, let question): .ask(id, question)
                case .cancel(let id): .cancel(id)
                case .follow(let question): .follow(question)
                case .unfollow(let question): .unfollow(question)
                }
            }
    }

    /// The questions that the known records lead to.
    private var wanted: Set<Question> {
        var wanted = Set(instances.flatMap(Self.questions(about:)))
        if case .type(let list, _) = subject { wanted.insert(list) }
        return wanted.union(instances.compactMap { place(of: $0)?.host }.flatMap(Self.questions(aboutHost:)))
    }

    private static func questions(about instance: Name) -> [Question] {
        [Question(name: instance, type: .srv), Question(name: instance, type: .txt)]
    }

    private static func questions(aboutHost host: Name) -> [Question] {
        [Question(name: host, type: .a), Question(name: host, type: .aaaa)]
    }

    /// The instances in the order of the server, without those of other domains and those above the limit.
    private var instances: [Name] {
        switch subject {
        case .service(let name): return [name]
        case .type(let list, let parent):
            var seen: Set<Name> = []
            let names = questions.records(list).compactMap { record in
                if case .ptr(let name) = record.data, name.parent == parent { name } else { nil }
            }
            return Array(names.filter { seen.insert($0).inserted }.prefix(Self.serviceLimit))
        }
    }

    /// True for the question without whose answer no service can be found.
    private func decides(_ question: Question) -> Bool {
        switch subject {
        case .type(let list, _): question == list
        case .service: question.type == .srv
        }
    }

    /// The host and the port of an instance. An SRV record with the root as its host means that the service is not
    /// available (RFC 2782).
    private func place(of instance: Name) -> (host: Name, port: UInt16)? {
        for record in questions.records(Question(name: instance, type: .srv)) {
            if case .srv(_, _, let port, let host) = record.data, host != .root { return (host, port) }
        }
        return nil
    }

    /// Asks the questions that new records lead to, and reports the differences between the known services and the
    /// reported ones.
    private mutating func update(after question: Question) {
        switch question.type {
        case .ptr:
            questions.replace(with: wanted)
            instances.forEach { report($0) }
            let known = Set(instances)
            for name in services.keys.filter({ !known.contains($0) }).sorted(by: Self.precedes) { remove(name) }
        case .srv:
            // Questions about a previous host are dropped with the next list. A computation for each of a thousand
            // services would take seconds.
            if let host = place(of: question.name)?.host { questions.add(Self.questions(aboutHost: host)) }
            report(question.name)
        case .txt: report(question.name)
        default:
            for name in services.keys.filter({ services[$0]?.host == question.name }).sorted(by: Self.precedes) {
                report(name)
            }
        }
    }

    /// Reports a service that was found or changed, or that is no longer available.
    private mutating func report(_ name: Name) {
        guard let (host, port) = place(of: name) else { return remove(name) }
        // A service is reported with its attributes.
        guard questions.wasAsked(Question(name: name, type: .txt)) else { return }
        let service = DomainService(
            name: name, host: host, port: port, txt: text(of: name), addresses: addresses(of: host))
        guard services.updateValue(service, forKey: name) != service else { return }
        output.append(.found(service))
    }

    private mutating func remove(_ name: Name) {
        if services.removeValue(forKey: name) != nil { output.append(.lost(name)) }
    }

    private func text(of instance: Name) -> TXTRecord {
        for case .txt(let bytes) in questions.records(Question(name: instance, type: .txt)).map(\.data) {
            return TXTRecord(decoding: bytes)
        }
        return TXTRecord()
    }

    private func addresses(of host: Name) -> [IPAddress] {
        let found = [RecordType.aaaa, .a].flatMap { questions.records(Question(name: host, type: $0)) }
        return found.compactMap { record in
            switch record.data {
            case .a(let address): .v4(address)
            case .aaaa(let address): .v6(address)
            case .ptr, .srv, .txt, .nsec, .other: nil
            }
        }
    }

    private static func precedes(_ left: Name, _ right: Name) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
