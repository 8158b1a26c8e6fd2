import MulticastDNS
import ProtocolCore

/// Returns a renamed service to its registered name as soon as no host defends that name (RFC 6762 §9 lets a host try
/// at any time). The service keeps its current name until it owns the registered one.
struct Reclaiming: Sendable {
    private enum State {
        /// The service has its registered name.
        case idle
        /// The next attempt begins at this time.
        case waiting(until: Instant)
        /// The first part of an attempt: the name is queried until this time.
        case asking(until: Instant)
        /// The second part of an attempt: the registered name is probed for with the records of this group.
        case probing(GroupID)
    }

    /// The time from the loss of the name to the first attempt. Each further pause is four times as long, up to
    /// ``longestPause``. One attempt per hour, with some queries and three probes, is a negligible load.
    private static let firstPause = Duration.seconds(60)
    private static let longestPause = Duration.seconds(3600)
    /// The time for which the name is queried before it is probed for. A host that misses all probes for its name loses
    /// the name. The host is less likely to miss all these queries too.
    private static let asking = Duration.seconds(20)

    private var state = State.idle
    private var pause = Self.firstPause
    private var regained: Instant?

    /// The time of the next attempt, or of the end of the queries while ``isAsking``. Nil while the service has its
    /// registered name or the name is probed for.
    var due: Instant? {
        switch state {
        case .waiting(let until), .asking(let until): until
        case .idle, .probing: nil
        }
    }

    /// True during the first part of an attempt, while the name is queried.
    var isAsking: Bool {
        switch state {
        case .asking: true
        case .idle, .waiting, .probing: false
        }
    }

    /// The group of the records under the registered name while the name is probed for, otherwise nil.
    var group: GroupID? {
        switch state {
        case .probing(let group): group
        case .idle, .waiting, .asking: nil
        }
    }

    /// Schedules an attempt after the name was lost or could not be regained.
    ///
    /// - Returns: the time until the attempt.
    mutating func wait(now: Instant) -> Duration {
        // If the service kept its name for ``longestPause``, the attempts restart with ``firstPause``.
        if let regained, now - regained >= Self.longestPause { pause = Self.firstPause }
        regained = nil
        let span = pause
        state = .waiting(until: now + span)
        pause = min(pause * 4, Self.longestPause)
        return span
    }

    mutating func ask(now: Instant) { state = .asking(until: now + Self.asking) }

    mutating func begin(_ group: GroupID) { state = .probing(group) }

    /// Ends an attempt without a result. The next attempt begins after ``firstPause``.
    mutating func again(now: Instant) { state = .waiting(until: now + Self.firstPause) }

    mutating func succeeded(now: Instant) {
        state = .idle
        regained = now
    }
}
