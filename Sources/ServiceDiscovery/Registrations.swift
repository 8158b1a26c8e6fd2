import DNSWire
import MulticastDNS
import ProtocolCore

/// The registered services and their host names.
struct Registrations: Sendable {
    /// A registered service under its current name.
    private struct Service {
        var registration: ServiceRegistration
        var naming: Renaming
        var group: GroupID
        var name: String
        var reclaiming = Reclaiming()
    }

    /// A host name that services point to.
    private struct Host {
        var naming: Renaming
        let group: GroupID
        var name: String
        /// The number of services that point to it.
        var users: Int
    }

    /// The owner of a group of records.
    private enum Owner {
        case service(RegistrationID)
        /// The records under the name that the service tries to regain.
        case reclaim(RegistrationID)
        case host(String)
    }

    private let domain: Name
    private let limit: Int
    private var random: SeededRandom
    private var services: [RegistrationID: Service] = [:]
    /// The hosts by their registered name.
    private var hosts: [String: Host] = [:]
    private var owners: [GroupID: Owner] = [:]
    private var lastGroup: UInt64 = 0
    /// The time at which the next service tries to regain its name, or nil if no service waits to do so.
    private(set) var deadline: Instant?

    /// Creates an empty table. New names after conflicts are drawn from `random`.
    init(domain: Name, limit: Int, random: SeededRandom) {
        self.domain = domain
        self.limit = limit
        self.random = random
    }

    mutating func register(
        _ id: RegistrationID, _ registration: ServiceRegistration, now: Instant, _ steps: inout [DiscoveryStep]
    ) {
        guard services[id] != nil || services.count < limit else { return }
        // The new service uses the host before the replaced one releases it, so that the host sends no goodbye.
        useHost(registration.hostName, &steps)
        if services[id] != nil { unregister(id, now: now, &steps) }
        let service = Service(
            registration: registration, naming: Renaming(registration.name), group: newGroup(.service(id)),
            name: registration.name)
        services[id] = service
        publish(service, &steps)
    }

    mutating func updateTXT(_ id: RegistrationID, _ txt: TXTRecord, now: Instant, _ steps: inout [DiscoveryStep]) {
        services[id]?.registration.txt = txt
        endReclaim(id, now: now, &steps)
        if let service = services[id] { publish(service, &steps) }
    }

    mutating func unregister(_ id: RegistrationID, now: Instant, _ steps: inout [DiscoveryStep]) {
        endReclaim(id, now: now, &steps)
        guard let service = services.removeValue(forKey: id) else { return }
        updateDeadline()
        drop(service.group, &steps)
        let hostName = service.registration.hostName
        guard var host = hosts[hostName] else { return }
        host.users -= 1
        hosts[hostName] = host.users > 0 ? host : nil
        if host.users == 0 { drop(host.group, &steps) }
    }

    /// Removes everything. The caller stops the responder, which sends the goodbyes.
    mutating func removeAll() {
        services = [:]
        hosts = [:]
        owners = [:]
        deadline = nil
    }

    /// Reports a claimed name.
    mutating func claimed(_ group: GroupID, now: Instant, _ steps: inout [DiscoveryStep]) {
        switch owners[group] {
        case .reclaim(let id): reclaimed(id, group, now: now, &steps)
        case .service(let id):
            if let service = services[id] { steps.append(.report(.registered(id, name: service.name))) }
        case .host, nil:
            break
        }
    }

    /// Chooses a different name and probes for it (RFC 6762 §9). The services of a renamed host point to its new name.
    ///
    /// - Parameter host: the host that owns the name.
    mutating func rename(_ group: GroupID, because host: Peer, now: Instant, _ steps: inout [DiscoveryStep]) {
        switch owners[group] {
        case .reclaim(let id): reclaimFailed(id, group, now: now, &steps)
        case .service(let id):
            endReclaim(id, now: now, &steps)
            guard var service = services[id] else { return }
            let lost = service.name
            service.naming.next(&random)
            service.name = InstanceName.numbered(service.naming.base, service.naming.number)
            // Further renames on the way to a free name are not reported.
            if lost == service.registration.name {
                let pause = service.reclaiming.wait(now: now)
                steps.append(.report(.nameTaken(id, name: lost, by: host, again: pause)))
            }
            services[id] = service
            updateDeadline()
            publish(service, &steps)
        case .host(let preferred):
            guard var host = hosts[preferred] else { return }
            host.naming.next(&random)
            host.name = InstanceName.numberedHost(host.naming.base, host.naming.number)
            hosts[preferred] = host
            publish(host, &steps)
            for id in services.keys.sorted() {
                endReclaim(id, now: now, &steps)
                guard let service = services[id], service.registration.hostName == preferred else { continue }
                publish(service, &steps)
            }
        case nil:
            break
        }
    }

    private mutating func useHost(_ name: String, _ steps: inout [DiscoveryStep]) {
        if hosts[name] != nil {
            hosts[name]?.users += 1
            return
        }
        let host = Host(naming: Renaming(base: name), group: newGroup(.host(name)), name: name, users: 1)
        hosts[name] = host
        publish(host, &steps)
    }

    private mutating func newGroup(_ owner: Owner) -> GroupID {
        lastGroup += 1
        let group = GroupID(rawValue: lastGroup)
        owners[group] = owner
        return group
    }

    private mutating func drop(_ group: GroupID, _ steps: inout [DiscoveryStep]) {
        owners[group] = nil
        steps.append(.respond(.withdraw(group)))
    }

    private func publish(_ host: Host, _ steps: inout [DiscoveryStep]) {
        let group = RecordGroup(name: hostName(host.name), publishesAddresses: true)
        steps.append(.respond(.publish(host.group, group)))
    }

    private func publish(_ service: Service, _ steps: inout [DiscoveryStep]) {
        publish(service, as: service.name, service.group, &steps)
    }

    private func publish(_ service: Service, as name: String, _ group: GroupID, _ steps: inout [DiscoveryStep]) {
        guard let host = hosts[service.registration.hostName] else { return }
        let records = ServiceRecords(service.registration, as: name, domain: domain, host: hostName(host.name))
        steps.append(.respond(.publish(group, records.group(requiring: host.group))))
    }

    private func hostName(_ label: String) -> Name {
        do {
            return try domain.prepending(label: Array(label.utf8))
        } catch {
            preconditionFailure("a registration's host name was checked: \(error)")
        }
    }

    // MARK: Registered names

    /// Starts and continues the due attempts to regain registered names.
    mutating func reclaim(now: Instant, _ querier: Querier, _ steps: inout [DiscoveryStep]) {
        guard let due = deadline, due <= now else { return }
        for id in services.keys.sorted() {
            guard let service = services[id], let due = service.reclaiming.due, due <= now else { continue }
            let question = wantedRecord(of: service)
            guard service.reclaiming.isAsking else {
                services[id]?.reclaiming.ask(now: now)
                steps.append(.query(.ask(question, on: nil)))
                // A host that browses has heard records of the name. If their host left, they must not count.
                for interface in querier.interfaces { steps.append(.query(.reconfirm(question, nil, on: interface))) }
                continue
            }
            let isTaken = querier.interfaces.contains { !querier.records(for: question, on: $0).isEmpty }
            steps.append(.query(.forget(question, on: nil)))
            guard !isTaken else {
                _ = services[id]?.reclaiming.wait(now: now)
                continue
            }
            let group = newGroup(.reclaim(id))
            services[id]?.reclaiming.begin(group)
            publish(service, as: service.registration.name, group, &steps)
        }
        updateDeadline()
    }

    /// Switches the service back to its registered name.
    private mutating func reclaimed(
        _ id: RegistrationID, _ group: GroupID, now: Instant, _ steps: inout [DiscoveryStep]
    ) {
        guard var service = services[id], service.reclaiming.group == group else { return }
        let former = service.group
        service.group = group
        service.name = service.registration.name
        service.naming = Renaming(service.name)
        service.reclaiming.succeeded(now: now)
        services[id] = service
        owners[group] = .service(id)
        drop(former, &steps)
        steps.append(.report(.registered(id, name: service.name)))
    }

    /// Ends an attempt because another host still has the name.
    private mutating func reclaimFailed(
        _ id: RegistrationID, _ group: GroupID, now: Instant, _ steps: inout [DiscoveryStep]
    ) {
        guard services[id]?.reclaiming.group == group else { return }
        drop(group, &steps)
        _ = services[id]?.reclaiming.wait(now: now)
        updateDeadline()
    }

    /// Ends an attempt because the service's records changed. A later attempt uses the new records.
    private mutating func endReclaim(_ id: RegistrationID, now: Instant, _ steps: inout [DiscoveryStep]) {
        guard let service = services[id] else { return }
        if service.reclaiming.isAsking {
            steps.append(.query(.forget(wantedRecord(of: service), on: nil)))
        } else if let group = service.reclaiming.group {
            drop(group, &steps)
        } else {
            return
        }
        services[id]?.reclaiming.again(now: now)
        updateDeadline()
    }

    /// Returns the question for the SRV record of a host that owns the registered name.
    private func wantedRecord(of service: Service) -> QuestionKey {
        do {
            let type = try service.registration.type.name(in: domain)
            return QuestionKey(name: try type.prepending(label: Array(service.registration.name.utf8)), type: .srv)
        } catch {
            preconditionFailure("a registration's names were checked: \(error)")
        }
    }

    private mutating func updateDeadline() {
        deadline = services.values.reduce(nil) { sooner($0, $1.reclaiming.due) }
    }
}

/// The records of a service (RFC 6763 §4, §5, §6, §7.1, §9).
private struct ServiceRecords {
    private let instance: Name
    private let type: Name
    private let subtypes: [Name]
    private let enumeration: Name
    private let location: RecordData
    private let text: RecordData

    /// Creates the records. The registration checked its names, so an invalid name here is a programming error.
    init(_ registration: ServiceRegistration, as label: String, domain: Name, host: Name) {
        location = .srv(priority: 0, weight: 0, port: registration.port, target: host)
        text = .txt(registration.txt.encoded)
        do {
            type = try registration.type.name(in: domain)
            instance = try type.prepending(label: Array(label.utf8))
            enumeration = try Name(labels: RFC6763.enumerationLabels.map { Array($0.utf8)[...] } + domain.labels)
            subtypes = try registration.subtypes.map { try registration.type.subtype($0).name(in: domain) }
        } catch {
            preconditionFailure("a registration's names were checked: \(error)")
        }
    }

    func group(requiring host: GroupID) -> RecordGroup {
        let other = RFC6762.otherTimeToLive
        return RecordGroup(
            name: instance,
            unique: [
                Record(name: instance, timeToLive: RFC6762.hostTimeToLive, data: location),
                Record(name: instance, timeToLive: other, data: text),
            ],
            shared: ([type] + subtypes).map { Record(name: $0, timeToLive: other, data: .ptr(instance)) },
            answeredOnly: [Record(name: enumeration, timeToLive: other, data: .ptr(type))],
            requires: host)
    }
}
