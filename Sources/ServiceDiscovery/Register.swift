import DNSWire
import MulticastDNS
import ProtocolCore

/// A registered service under its current name.
struct RegisteredService: Sendable {
    var registration: ServiceRegistration
    var naming: Renaming
    var group: GroupID
    var name: String
    var reclaiming = Reclaiming()
}

/// A host name that services point to.
struct RegisteredHost: Sendable {
    var naming: Renaming
    let group: GroupID
    var name: String
    /// The number of services that point to it.
    var users: Int
}

/// The owner of a group of records.
enum GroupOwner: Hashable, Sendable {
    case service(RegistrationID)
    /// The records under the name that the service tries to regain.
    case reclaim(RegistrationID)
    case host(String)
}

extension DiscoveryNode {
    mutating func register(
        _ id: RegistrationID, _ registration: ServiceRegistration, now: Instant, _ actions: inout [Action]
    ) {
        guard services[id] != nil || services.count < configuration.registrationLimit else { return }
        // The new service uses the host before the replaced one releases it, so that the host sends no goodbye.
        useHost(registration.hostName, now: now, &actions)
        if services[id] != nil { unregister(id, now: now, &actions) }
        let service = RegisteredService(
            registration: registration, naming: Renaming(registration.name), group: newGroup(.service(id)),
            name: registration.name)
        services[id] = service
        publish(service, now: now, &actions)
    }

    mutating func updateTXT(_ id: RegistrationID, _ txt: TXTRecord, now: Instant, _ actions: inout [Action]) {
        services[id]?.registration.txt = txt
        endReclaim(id, now: now, &actions)
        if let service = services[id] { publish(service, now: now, &actions) }
    }

    mutating func unregister(_ id: RegistrationID, now: Instant, _ actions: inout [Action]) {
        endReclaim(id, now: now, &actions)
        guard let service = services.removeValue(forKey: id) else { return }
        findReclaimDeadline()
        groupOwners[service.group] = nil
        respond(.withdraw(service.group), now: now, &actions)
        let hostName = service.registration.hostName
        guard var host = hosts[hostName] else { return }
        host.users -= 1
        hosts[hostName] = host.users > 0 ? host : nil
        guard host.users == 0 else { return }
        groupOwners[host.group] = nil
        respond(.withdraw(host.group), now: now, &actions)
    }

    private mutating func useHost(_ name: String, now: Instant, _ actions: inout [Action]) {
        if hosts[name] != nil {
            hosts[name]?.users += 1
            return
        }
        let host = RegisteredHost(naming: Renaming(base: name), group: newGroup(.host(name)), name: name, users: 1)
        hosts[name] = host
        publish(host, now: now, &actions)
    }

    mutating func newGroup(_ owner: GroupOwner) -> GroupID {
        nextGroup += 1
        let group = GroupID(rawValue: nextGroup)
        groupOwners[group] = owner
        return group
    }

    mutating func reportClaimed(_ group: GroupID, now: Instant, _ actions: inout [Action]) {
        switch groupOwners[group] {
        case .reclaim(let id): reclaimed(id, group, now: now, &actions)
        case .service(let id):
            if let service = services[id] { actions.append(.registered(id, name: service.name)) }
        case .host, nil:
            break
        }
    }

    /// Chooses a different name and probes for it (RFC 6762 §9). The services of a renamed host point to its new name.
    ///
    /// - Parameter host: the host that owns the name.
    mutating func rename(_ group: GroupID, because host: Peer, now: Instant, _ actions: inout [Action]) {
        switch groupOwners[group] {
        case .reclaim(let id): reclaimFailed(id, group, now: now, &actions)
        case .service(let id):
            endReclaim(id, now: now, &actions)
            guard var service = services[id] else { return }
            let lost = service.name
            service.naming.next(&random)
            service.name = InstanceName.numbered(service.naming.base, service.naming.number)
            // Further renames on the way to a free name are not reported.
            if lost == service.registration.name {
                let pause = service.reclaiming.wait(now: now)
                actions.append(.nameTaken(id, name: lost, by: host, again: pause))
            }
            services[id] = service
            findReclaimDeadline()
            publish(service, now: now, &actions)
        case .host(let wish):
            guard var host = hosts[wish] else { return }
            host.naming.next(&random)
            host.name = InstanceName.numberedHost(host.naming.base, host.naming.number)
            hosts[wish] = host
            publish(host, now: now, &actions)
            for id in services.keys.sorted() {
                endReclaim(id, now: now, &actions)
                guard let service = services[id], service.registration.hostName == wish else { continue }
                publish(service, now: now, &actions)
            }
        case nil:
            break
        }
    }

    private mutating func publish(_ host: RegisteredHost, now: Instant, _ actions: inout [Action]) {
        let group = RecordGroup(name: hostName(host.name), publishesAddresses: true)
        respond(.publish(host.group, group), now: now, &actions)
    }

    private mutating func publish(_ service: RegisteredService, now: Instant, _ actions: inout [Action]) {
        publish(service, as: service.group, now: now, &actions)
    }

    mutating func publish(
        _ service: RegisteredService, as group: GroupID, now: Instant, _ actions: inout [Action]
    ) {
        guard let host = hosts[service.registration.hostName] else { return }
        let records = ServiceRecords(service, domain: domain, host: hostName(host.name))
        respond(.publish(group, records.group(requiring: host.group)), now: now, &actions)
    }

    private func hostName(_ label: String) -> Name {
        do {
            return try domain.prepending(label: Array(label.utf8))
        } catch {
            preconditionFailure("a registration's host name was checked: \(error)")
        }
    }
}

/// The records of a service (RFC 6763 §4, §5, §6, §7.1, §9).
struct ServiceRecords {
    private let instance: Name
    private let type: Name
    private let subtypes: [Name]
    private let enumeration: Name
    private let location: RecordData
    private let text: RecordData

    /// Creates the records. The registration checked its names, so an invalid name here is a programming error.
    init(_ service: RegisteredService, domain: Name, host: Name) {
        let registration = service.registration
        location = .srv(priority: 0, weight: 0, port: registration.port, target: host)
        text = .txt(registration.txt.encoded)
        do {
            type = try registration.type.name(in: domain)
            instance = try type.prepending(label: Array(service.name.utf8))
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
