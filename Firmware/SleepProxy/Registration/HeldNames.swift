import DNSWire
import MulticastDNS
import ProtocolCore

/// The hosts that announced unique names on the link. The proxy compares them with a registration, so that a host cannot
/// register a different host's name, and does not need to probe for names that the registering host announced itself.
struct HeldNames: Sendable {
    /// The relation of a name to a registering host.
    enum Holder: Hashable, Sendable {
        /// Only the registering host announced the name.
        case registrant
        /// A different host announced the name, and its records are still valid.
        case other
        /// No valid announcement is known, or two hosts announced the name. A probe must decide.
        case unknown
    }

    private struct Claim: Sendable {
        var address: IPAddress
        var until: Instant
        /// True if a second host announced the name while the records of the first one were valid.
        var isDisputed = false
    }

    /// The claims on one name. A host with both families announces its names over both.
    private struct Claims: Sendable {
        var v4: Claim?
        var v6: Claim?
    }

    private var claims: [Name: Claims] = [:]
    /// The names in the order in which they were first seen, as a ring.
    private var order: [Name] = []
    private var oldest = 0
    private let capacity: Int

    /// Creates an empty table for this number of names.
    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// The number of names.
    var count: Int { claims.count }

    /// Records the unique names that a response announces.
    ///
    /// - Parameter isRelevant: returns false for names that the proxy holds itself.
    mutating func learn(from message: InboundMessage, now: Instant, where isRelevant: (Name) -> Bool) {
        guard message.message.flags.contains(.response), message.wasMulticast, message.source.port == RFC6762.port
        else {
            return
        }
        let source = message.source.address
        for record in message.message.answers + message.message.additionals
        where record.isCacheFlush && record.type != .opt && record.type != .nsec && isRelevant(record.name) {
            let lifetime = Duration.seconds(Int64(min(record.timeToLive, RFC6762.otherTimeToLive)))
            learn(record.name, from: source, until: now + lifetime, now: now)
        }
    }

    private mutating func learn(_ name: Name, from source: IPAddress, until: Instant, now: Instant) {
        if claims[name] == nil { makeRoom(for: name) }
        var known = claims[name] ?? Claims()
        let previous = source.family == .v4 ? known.v4 : known.v6
        var claim = Claim(address: source, until: until)
        if let previous, previous.until > now {
            if previous.address == source {
                // A goodbye ends the claim. Other records of the name may only extend it.
                claim.until = until > now ? max(until, previous.until) : now
                claim.isDisputed = previous.isDisputed
            } else {
                claim.isDisputed = true
                claim.until = max(until, previous.until)
            }
        }
        switch source.family {
        case .v4: known.v4 = claim
        case .v6: known.v6 = claim
        }
        claims[name] = known
    }

    /// Removes names, because the proxy holds them itself from now on.
    mutating func forget(_ names: [Name]) {
        let gone = names.filter { claims.removeValue(forKey: $0) != nil }
        guard !gone.isEmpty else { return }
        order = (order[oldest...] + order[..<oldest]).filter { !gone.contains($0) }
        oldest = 0
    }

    private mutating func makeRoom(for name: Name) {
        guard order.count >= capacity else {
            order.append(name)
            return
        }
        claims[order[oldest]] = nil
        order[oldest] = name
        oldest = (oldest + 1) % capacity
    }

    /// Returns the relation of the name to a host with these addresses. A claim over one family is only compared with
    /// addresses of that family.
    func holder(of name: Name, for addresses: [IPAddress], now: Instant) -> Holder {
        guard let known = claims[name] else { return .unknown }
        let families = Set(addresses.map(\.family))
        let valid = [known.v4, known.v6].compactMap { $0 }.filter {
            $0.until > now && families.contains($0.address.family)
        }
        guard !valid.isEmpty, !valid.contains(where: \.isDisputed) else { return .unknown }
        let own = valid.filter { addresses.contains($0.address) }
        if own.count == valid.count { return .registrant }
        return own.isEmpty ? .other : .unknown
    }
}
