public import DNSWire
public import ProtocolCore

/// Finds the domains that a network recommends (RFC 6763 §11). It asks for a list below each search domain and below the
/// name of each network, and again when an answer expires.
public struct DomainEnumerator: Machine, Sendable {
    /// The purpose of a recommendation. The raw value is the first label of its name.
    public enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// The domains to offer to a user who browses.
        case browsing = "b"
        /// The domain to browse if the user selects none.
        case defaultBrowsing = "db"
        /// The domains to browse without a user who selects them.
        case automaticBrowsing = "lb"
    }

    /// The inputs of the machine.
    public enum Event: MachineEvent, Hashable, Sendable {
        /// Starts, or continues with other search domains and networks.
        case refresh([Name])
        /// An answer of the resolver.
        case answered(QueryID, Result<ResolvedRecords, ResolverError>)
        /// Ends all questions.
        case stop
        /// The time of ``DomainEnumerator/nextDeadline`` was reached.
        case deadlineReached
    }

    /// The outputs of the machine, performed in order.
    public enum Action: Hashable, Sendable {
        case ask(QueryID, Question)
        case cancel(QueryID)
    }

    /// The limit of lists.
    public static let listLimit = 16
    /// The limit of recommended domains. A server may recommend any number.
    public static let domainLimit = 8

    private let purpose: Purpose
    private var lists: [Question] = []
    private var questions: PolledQuestions

    /// Creates a machine that asks nothing before ``Event/refresh(_:)``.
    ///
    /// - Parameter firstQuery: the first of the ids that this machine uses.
    public init(_ purpose: Purpose, firstQuery: QueryID) {
        self.purpose = purpose
        questions = PolledQuestions(firstQuery: firstQuery)
    }

    /// The time of the next ``Event/deadlineReached``, or nil.
    public var nextDeadline: Instant? { questions.nextDeadline }

    /// True if each list has been received or has failed.
    public var isComplete: Bool { lists.allSatisfy(questions.wasAsked) }

    /// Handles an event at the time `now` and returns the actions to perform.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .refresh(let parents):
            var seen: Set<Name> = []
            let different = parents.filter { seen.insert($0).inserted }
            lists = different.prefix(Self.listLimit).compactMap { Self.list(purpose, below: $0) }
            questions.refresh()
            questions.replace(with: Set(lists))
        case .answered(let id, let result): _ = questions.handle(result, to: id, now: now)
        case .stop:
            lists = []
            questions.removeAll()
        case .deadlineReached: break
        }
        return questions.takeRequests(now: now).compactMap { request in
            switch request {
            case .ask(let id, let question): .ask(id, question)
            case .cancel(let id): .cancel(id)
            // The lists are short and rarely change.
            case .follow, .unfollow: nil
            }
        }
    }

    /// The recommended domains in the order of their lists.
    public var domains: [Name] {
        var seen: Set<Name> = []
        let names = lists.flatMap(questions.records).compactMap { record in
            // The root and `local` are not domains of name servers.
            if case .ptr(let name) = record.data, name != .root, name != "local" { name } else { nil }
        }
        return Array(names.filter { seen.insert($0).inserted }.prefix(Self.domainLimit))
    }

    /// The question for a list, or nil if its name is too long.
    private static func list(_ purpose: Purpose, below parent: Name) -> Question? {
        let labels = ["_udp", "_dns-sd", purpose.rawValue]
        let name = try? labels.reduce(parent) { try $0.prepending(label: $1.utf8) }
        return name.map { Question(name: $0, type: .ptr) }
    }
}

extension Name {
    /// The name of the network of an address, below which the network may list recommended domains: the address with all
    /// bits after the prefix cleared, in the form of reverse lookups (RFC 1035 §3.5, RFC 3596 §2.5).
    ///
    /// - Parameter prefixLength: the length of the network prefix in bits. A value above the address size means a
    ///   network of one address.
    public init(network address: IPAddress, prefixLength: UInt8) {
        let bytes = address.bytes.enumerated().map { index, byte in
            byte & ~UInt8(truncatingIfNeeded: 0xff >> min(8, max(0, Int(prefixLength) - index * 8)))
        }
        let labels =
            switch address.family {
            case .v4: bytes.map { "\($0)" }
            case .v6: bytes.flatMap { [String($0 >> 4, radix: 16), String($0 & 15, radix: 16)] }
            }
        let suffix = address.family == .v4 ? "in-addr" : "ip6"
        // At most 34 short labels are never too long.
        self = (["arpa", suffix] + labels).reduce(.root) { (try? $0.prepending(label: $1.utf8)) ?? $0 }
    }
}
