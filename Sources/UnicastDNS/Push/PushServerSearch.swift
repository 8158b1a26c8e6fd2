import DNSWire
import MulticastDNS

/// Finds the servers of a protocol in the zone that contains a name (RFC 8765 §6.1, RFC 8764 §4): asks for the zone, for
/// the SRV records of its servers and for their addresses, one question at a time.
struct PushServerSearch: Sendable {
    /// The step after an answer.
    enum Step: Hashable {
        case ask(Question)
        /// The zone, and the addresses of its servers in the order in which a client tries them.
        case found(zone: Name, [Peer])
    }

    /// The limit of servers whose addresses are asked for.
    static let serverLimit = 4
    /// The limit of addresses. More would only make a failure last longer.
    static let addressLimit = 8

    private enum Stage {
        case zone
        case servers(zone: Name)
        case addresses(zone: Name, of: [(host: Name, port: UInt16)])
    }

    /// The protocol of the servers.
    let method: LiveProtocol
    private var stage = Stage.zone
    private var peers: [Peer] = []
    /// The question that waits for an answer.
    private(set) var question: Question

    init(for name: Name, of method: LiveProtocol = .push) {
        question = Question(name: name, type: .soa)
        self.method = method
    }

    /// Handles the answer to the question.
    mutating func handle(
        _ result: Result<ResolvedRecords, ResolverError>, random: inout some RandomNumberGenerator
    ) throws(PushFailure) -> Step {
        switch stage {
        case .zone: return try ask(zoneNamed(by: records(result)))
        case .servers(let zone):
            let servers = try Self.servers(records(result).records, random: &random)
            guard !servers.isEmpty else { throw .notOffered }
            return try askForAddresses(of: servers, zone)
        case .addresses(let zone, let servers):
            // A host with addresses of one family only is normal, so a failure leads to the next question.
            let answer = (try? result.get())?.records.compactMap(Self.address) ?? []
            peers += answer.map { Peer(address: $0, port: servers[0].port) }
            guard question.type == .a else {
                question.type = .a
                return .ask(question)
            }
            return try askForAddresses(of: Array(servers.dropFirst()), zone)
        }
    }

    private func records(_ result: Result<ResolvedRecords, ResolverError>) throws(PushFailure) -> ResolvedRecords {
        switch result {
        case .success(let answer): return answer
        case .failure(let error): throw .resolver(error)
        }
    }

    /// The zone in an answer about the properties of a zone: the owner of the record, or the zone that proves that this
    /// name is not the top of a zone. Nil if the answer has neither.
    private func zoneNamed(by answer: ResolvedRecords) -> Name? { answer.records.first?.name ?? answer.zone }

    /// Asks for the servers of the zone, or for the zone of the next longer part of the name.
    private mutating func ask(_ zone: Name?) throws(PushFailure) -> Step {
        if let zone, zone != .root, question.name.isInside(zone) {
            guard let name = try? Name(labels: method.service.map { $0[...] } + zone.labels) else {
                throw .notOffered
            }
            stage = .servers(zone: zone)
            question = Question(name: name, type: .srv)
        } else {
            guard let parent = question.name.parent, parent != .root else { throw .noZone }
            question.name = parent
        }
        return .ask(question)
    }

    private mutating func askForAddresses(
        of servers: [(host: Name, port: UInt16)], _ zone: Name
    ) throws(PushFailure) -> Step {
        guard let server = servers.first else {
            guard !peers.isEmpty else { throw .unreachable }
            return .found(zone: zone, Array(peers.prefix(Self.addressLimit)))
        }
        stage = .addresses(zone: zone, of: servers)
        question = Question(name: server.host, type: .aaaa)
        return .ask(question)
    }

    /// The servers in the order of RFC 2782: by priority, and among equal ones at random by weight. A server with the
    /// root as its host means that the service is not available.
    private static func servers(
        _ records: [Record], random: inout some RandomNumberGenerator
    ) -> [(host: Name, port: UInt16)] {
        typealias Server = (priority: UInt16, weight: Int, host: Name, port: UInt16)
        var rest = records.compactMap { record -> Server? in
            guard case .srv(let priority, let weight, let port, let host) = record.data, host != .root else {
                return nil
            }
            return (priority, Int(weight) + 1, host, port)
        }
        var servers: [(host: Name, port: UInt16)] = []
        while let priority = rest.map(\.priority).min(), servers.count < serverLimit {
            let equals = rest.indices.filter { rest[$0].priority == priority }
            var number = Int.random(in: 0..<equals.reduce(0) { $0 + rest[$1].weight }, using: &random)
            for index in equals {
                number -= rest[index].weight
                guard number < 0 else { continue }
                let chosen = rest.remove(at: index)
                servers.append((chosen.host, chosen.port))
                break
            }
        }
        return servers
    }

    private static func address(_ record: Record) -> IPAddress? {
        switch record.data {
        case .a(let address): .v4(address)
        case .aaaa(let address): .v6(address)
        case .ptr, .srv, .txt, .nsec, .other: nil
        }
    }
}

extension Name {
    /// Returns true for the zone itself and for the names below it.
    func isInside(_ zone: Name) -> Bool { sequence(first: self, next: \.parent).contains(zone) }
}
