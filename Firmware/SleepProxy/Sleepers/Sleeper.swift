import DNSWire
import MulticastDNS
import ProtocolCore

/// A host that registered, and its state.
struct Sleeper: Hashable, Sendable {
    /// The state. Each case has the data that are valid in it.
    enum Phase: Hashable, Sendable {
        /// The proxy checks whether the host is still silent. Nothing is published.
        case recovering(SilenceCheck)
        /// The names are published. The host may still answer for its addresses.
        case settling(SilenceCheck, until: Instant)
        /// The proxy answers for the addresses.
        case asleep(Announcements)
        /// The proxy answers for the addresses and sends magic packets.
        case waking(WakeAttempts)
    }

    /// The host and its card.
    let owner: OwnerOption
    /// The checked records.
    var records: SleeperRecords
    /// The ids of the published groups.
    var groups: [Name: GroupID] = [:]
    /// The time of the registration.
    let registered: Instant
    /// The end of the lease.
    var expires: Instant
    /// The current state.
    var phase: Phase

    var identity: SleeperIdentity { SleeperIdentity(host: records.host, card: owner.card) }

    /// True if the proxy answers ARP and neighbour discovery for the addresses.
    var isRepresented: Bool {
        switch phase {
        case .recovering, .settling: false
        case .asleep, .waking: true
        }
    }

    /// True if caches of neighbours may have the proxy's card for the addresses. A host that is being checked was
    /// represented before the restart or the loss of the link.
    var mayBeCached: Bool {
        switch phase {
        case .settling: false
        case .recovering, .asleep, .waking: true
        }
    }

    /// The time of the next step.
    var nextDeadline: Instant {
        switch phase {
        case .recovering(let check): min(check.next, expires)
        case .settling(let check, let until): min(check.next, until, expires)
        case .asleep(let announcements): min(announcements.next ?? expires, expires)
        // The end of the lease waits for the result.
        case .waking(let attempts): attempts.next
        }
    }

    /// The state for reports.
    var state: SleepProxyReport.Sleeper.State {
        switch phase {
        case .recovering: .recovering
        case .settling: .settling
        case .asleep: .asleep
        case .waking: .waking
        }
    }
}

/// Requests to a host until several in succession are unanswered.
struct SilenceCheck: Hashable, Sendable {
    enum Step: Hashable, Sendable { case ask, silent }

    private var unanswered = 0
    /// The time of the next step.
    private(set) var next: Instant

    /// - Parameter first: the time of the first request.
    init(first: Instant) { next = first }

    /// The host sent a frame, so the count starts again.
    mutating func heard(limits: SleepProxyLimits, now: Instant) {
        unanswered = 0
        next = now + limits.silenceInterval
    }

    /// Performs the step that is due, or returns nil.
    mutating func step(limits: SleepProxyLimits, now: Instant) -> Step? {
        guard now >= next else { return nil }
        guard unanswered < limits.silenceRequests else { return .silent }
        unanswered += 1
        next = now + limits.silenceInterval
        return .ask
    }
}

/// The announcements of a sleeper's addresses with the proxy's own card.
struct Announcements: Hashable, Sendable {
    private var sent = 0
    /// The time of the next one, or nil after the last one.
    private(set) var next: Instant?

    init(limits: SleepProxyLimits, now: Instant) { next = limits.announcements.first.map { now + $0 } }

    /// Returns true if an announcement is due.
    mutating func step(limits: SleepProxyLimits, now: Instant) -> Bool {
        guard let due = next, now >= due else { return false }
        sent += 1
        next = sent < limits.announcements.count ? now + limits.announcements[sent] : nil
        return true
    }
}

/// The magic packets of one wake.
struct WakeAttempts: Hashable, Sendable {
    enum Step: Hashable, Sendable { case send, failed }

    let cause: WakeCause
    let started: Instant
    private var sent = 0
    /// The time of the next step.
    private(set) var next: Instant

    init(_ cause: WakeCause, now: Instant) {
        self.cause = cause
        started = now
        next = now
    }

    /// Performs the step that is due, or returns nil.
    mutating func step(limits: SleepProxyLimits, now: Instant) -> Step? {
        guard now >= next else { return nil }
        guard sent < limits.wakePauses.count else { return .failed }
        next = now + limits.wakePauses[sent]
        sent += 1
        return .send
    }
}
