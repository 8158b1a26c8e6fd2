import DNSWire
import MulticastDNS
import ProtocolCore

/// A service that had to take another name goes back to the one that it was registered under, as soon as no host defends that
/// (RFC 6762 §9 lets a host try at any time). It keeps the name that it has until the other one is its own.
struct Reclaiming: Sendable {
    /// Between the first loss and the first attempt; four times as long after each further one. Three probes an hour disturb nobody.
    static let firstPause = Duration.seconds(60)
    static let longestPause = Duration.seconds(3600)
    /// The name is asked for so long before it is probed for. A probe that the host which has the name does not hear would take it from that
    /// one; so many questions all get lost more seldom.
    static let asking = Duration.seconds(20)

    private(set) var pause = Self.firstPause
    /// When to try; nil while the name is its own, and while an attempt goes on.
    private(set) var due: Instant?
    /// It is asked for now, until ``due``.
    private(set) var isAsking = false
    /// The records under the wanted name, while they are probed for.
    var group: GroupID?
    private var regained: Instant?

    /// The name was lost, or could not be regained.
    ///
    /// - Returns: after how long it is tried again.
    mutating func wait(now: Instant) -> Duration {
        // A name that was kept for a while was worth going back to.
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

    /// The attempt is over, without having shown anything.
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
    /// Begins what is due.
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

    /// The wanted name is the service's own again.
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

    /// Another host still has it.
    mutating func reclaimFailed(_ id: RegistrationID, _ group: GroupID, now: Instant, _ actions: inout [Action]) {
        guard services[id]?.reclaiming.group == group else { return }
        drop(group, now: now, &actions)
        _ = services[id]?.reclaiming.wait(now: now)
        findReclaimDeadline()
    }

    /// Where a host that has the wanted name says that it is.
    private func wantedRecord(of service: RegisteredService) -> QuestionKey {
        do {
            let type = try service.registration.type.name(in: domain)
            return QuestionKey(name: try type.prepending(label: Array(service.registration.name.utf8)), type: .srv)
        } catch {
            preconditionFailure("a registration's names were checked: \(error)")
        }
    }

    /// What the records would say has changed: a later attempt says the new.
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
