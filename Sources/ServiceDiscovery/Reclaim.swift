import DNSWire
import MulticastDNS
import ProtocolCore

/// Returns a renamed service to its registered name as soon as no host defends that name (RFC 6762 §9 lets a host try
/// at any time). The service keeps its current name until it owns the registered one.
struct Reclaiming: Sendable {
    /// The time from the loss of the name to the first attempt. Each further pause is four times as long, up to
    /// ``longestPause``. One attempt per hour, with some queries and three probes, is a negligible load.
    static let firstPause = Duration.seconds(60)
    static let longestPause = Duration.seconds(3600)
    /// The time for which the name is queried before it is probed for. A host that misses all probes for its name loses
    /// the name. The host is less likely to miss all these queries too.
    static let asking = Duration.seconds(20)

    private(set) var pause = Self.firstPause
    /// The time of the next attempt, or of the end of the queries while ``isAsking``. Nil while the service has its
    /// registered name or the name is probed for.
    private(set) var due: Instant?
    /// True during the first part of an attempt, while the name is queried.
    private(set) var isAsking = false
    /// The group of the records under the registered name while the name is probed for, otherwise nil.
    var group: GroupID?
    private var regained: Instant?

    /// Schedules an attempt after the name was lost or could not be regained.
    ///
    /// - Returns: the time until the attempt.
    mutating func wait(now: Instant) -> Duration {
        // If the service kept its name for ``longestPause``, the attempts restart with ``firstPause``.
        if let regained, now - regained >= Self.longestPause { pause = Self.firstPause }
        regained = nil
        (group, isAsking) = (nil, false)
        let span = pause
        due = now + span
        pause = min(pause * 4, Self.longestPause)
        return span
    }

    mutating func ask(now: Instant) {
        isAsking = true
        due = now + Self.asking
    }

    mutating func begin(_ group: GroupID) {
        (due, isAsking) = (nil, false)
        self.group = group
    }

    /// Ends an attempt without a result. The next attempt begins after ``firstPause``.
    mutating func again(now: Instant) {
        (group, isAsking) = (nil, false)
        due = now + Self.firstPause
    }

    mutating func succeeded(now: Instant) {
        (due, group) = (nil, nil)
        regained = now
    }
}

extension DiscoveryNode {
    /// Starts the attempts that are due.
    mutating func reclaim(now: Instant, _ actions: inout [Action]) {
        guard let due = reclaimDeadline, due <= now else { return }
        for id in services.keys.sorted() {
            guard var service = services[id], let due = service.reclaiming.due, due <= now else { continue }
            let question = wantedRecord(of: service)
            guard service.reclaiming.isAsking else {
                services[id]?.reclaiming.ask(now: now)
                query(.ask(question, on: nil), now: now, &actions)
                continue
            }
            let isTaken = querier.interfaces.contains { !querier.records(for: question, on: $0).isEmpty }
            query(.forget(question, on: nil), now: now, &actions)
            guard !isTaken else {
                _ = services[id]?.reclaiming.wait(now: now)
                continue
            }
            let group = newGroup(.reclaim(id))
            service.reclaiming.begin(group)
            services[id] = service
            service.name = service.registration.name
            publish(service, as: group, now: now, &actions)
        }
        findReclaimDeadline()
    }

    /// Switches the service back to its registered name.
    mutating func reclaimed(_ id: RegistrationID, _ group: GroupID, now: Instant, _ actions: inout [Action]) {
        guard var service = services[id], service.reclaiming.group == group else { return }
        let former = service.group
        service.group = group
        service.name = service.registration.name
        service.naming = Renaming(service.name)
        service.reclaiming.succeeded(now: now)
        services[id] = service
        groupOwners[former] = nil
        groupOwners[group] = .service(id)
        respond(.withdraw(former), now: now, &actions)
        actions.append(.registered(id, name: service.name))
    }

    /// Ends an attempt because another host still has the name.
    mutating func reclaimFailed(_ id: RegistrationID, _ group: GroupID, now: Instant, _ actions: inout [Action]) {
        guard services[id]?.reclaiming.group == group else { return }
        drop(group, now: now, &actions)
        _ = services[id]?.reclaiming.wait(now: now)
        findReclaimDeadline()
    }

    /// Returns the question for the SRV record of a host that owns the registered name.
    private func wantedRecord(of service: RegisteredService) -> QuestionKey {
        do {
            let type = try service.registration.type.name(in: domain)
            return QuestionKey(name: try type.prepending(label: Array(service.registration.name.utf8)), type: .srv)
        } catch {
            preconditionFailure("a registration's names were checked: \(error)")
        }
    }

    /// Ends an attempt because the service's records changed. A later attempt uses the new records.
    mutating func endReclaim(_ id: RegistrationID, now: Instant, _ actions: inout [Action]) {
        if let service = services[id], service.reclaiming.isAsking {
            query(.forget(wantedRecord(of: service), on: nil), now: now, &actions)
            services[id]?.reclaiming.again(now: now)
            findReclaimDeadline()
        }
        guard let group = services[id]?.reclaiming.group else { return }
        drop(group, now: now, &actions)
        services[id]?.reclaiming.again(now: now)
        findReclaimDeadline()
    }

    private mutating func drop(_ group: GroupID, now: Instant, _ actions: inout [Action]) {
        groupOwners[group] = nil
        respond(.withdraw(group), now: now, &actions)
    }

    mutating func findReclaimDeadline() {
        reclaimDeadline = services.values.reduce(nil) { sooner($0, $1.reclaiming.due) }
    }
}
