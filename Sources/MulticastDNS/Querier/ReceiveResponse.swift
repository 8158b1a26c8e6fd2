import DNSWire
import ProtocolCore

/// Stores responses in the cache (RFC 6762 §6, §10).
extension Querier {
    mutating func receive(_ inbound: InboundMessage, now: Instant, _ actions: inout [Action]) {
        let message = inbound.message
        guard message.flags.operation == 0, message.flags.responseCode == 0 else { return }
        guard message.flags.contains(.response) else {
            links[inbound.interface]?.hear(inbound, now: now)
            return
        }
        // §6: the querier never requests unicast answers, so it accepts none.
        guard inbound.source.port == RFC6762.port, inbound.wasMulticast, links[inbound.interface]?.isInUse == true
        else {
            return
        }
        let (changes, repeated) = store(message, on: inbound.interface, now: now)
        for record in message.answers + message.additionals where record.isCacheFlush && record.timeToLive > 0 {
            noteAnswered(record, on: inbound.interface)
        }
        if !changes.isEmpty { actions.append(.changed(inbound.interface, changes)) }
        if !repeated.isEmpty { actions.append(.repeated(repeated)) }
    }

    private mutating func store(
        _ message: Message, on interface: InterfaceID, now: Instant
    ) -> (changes: [CacheChange], repeated: Set<Name>) {
        // Without questions the cache stores no new records: a plug that only answers needs no memory for its
        // neighbours.
        let schedules = links[interface]?.schedules ?? [:]
        let jitter = Double.random(in: RFC6762.refreshJitter, using: &random)
        var changes: [CacheChange] = []
        var repeated: Set<Name> = []
        for record in message.answers + message.additionals where Self.isCacheable(record) {
            let key = QuestionKey(name: record.name, type: record.type)
            let arrival = RecordCache.Arrival(
                now: now, jitter: jitter, keepsNew: !schedules.isEmpty, isAsked: schedules[key] != nil)
            // The record is inserted in place: the cache must not be copied per packet.
            let news = links[interface]?.cache.insert(record, arrival) { schedules[$0] != nil } ?? []
            if !news.isEmpty {
                changes += news
            } else if record.type == .srv, record.timeToLive > 0, arrival.isAsked {
                repeated.insert(record.name)
            }
        }
        return (changes, repeated)
    }

    private static func isCacheable(_ record: Record) -> Bool {
        record.recordClass == .internet && record.type != .opt && record.type != .any
    }

    private mutating func noteAnswered(_ record: Record, on interface: InterfaceID) {
        let types: [RecordType] = record.type == .nsec ? [.a, .aaaa] : [record.type]
        for key in types.map({ QuestionKey(name: record.name, type: $0) }) {
            guard links[interface]?.schedules[key] != nil, links[interface]?.cache.hasTheAnswer(key) == true else {
                continue
            }
            links[interface]?.schedules[key] = .answered
        }
    }
}
