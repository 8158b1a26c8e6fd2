import PlugModel
import ProtocolCore

/// A subscription to a plug's log. It outlasts connections and the duration that a plug grants per request.
struct LogSubscription {
    let level: LogLevel
    /// The end of the subscription; nil if it has no end.
    let until: Instant?
    /// The time of the next request: when half of the granted time is over, so that the subscription is renewed before
    /// it ends. Nil while a request waits for its answer, and if the granted time reaches `until`.
    var asksAgainAt: Instant?
    /// The boot and the plug's time of the last received line. On a new connection the plug repeats stored lines; lines
    /// that are not later than this one are skipped.
    private var last: (boot: BootID, time: Instant)?

    init(level: LogLevel, until: Instant?) {
        self.level = level
        self.until = until
    }

    var nextDeadline: Instant? { asksAgainAt }

    func isDue(_ now: Instant) -> Bool { asksAgainAt.map { $0 <= now } ?? false }

    /// Returns the remaining time as the next higher number of whole seconds, at most `PlugWire.longestLog`; zero when
    /// the time is over, and `longestLog` for a subscription without an end.
    func remaining(_ now: Instant) -> Duration {
        guard let until else { return PlugWire.longestLog }
        guard until > now else { return .zero }
        return min(PlugWire.longestLog, .seconds((until - now).components.seconds + 1))
    }

    /// Handles the duration that the plug granted and schedules the renewal.
    mutating func granted(_ duration: Duration, now: Instant) {
        // A grant below two seconds counts as two seconds, so the next request follows after one second at the
        // earliest.
        let end = now + max(duration, .seconds(2))
        asksAgainAt = until.map { $0 <= end } ?? false ? nil : now + (end - now) / 2
    }

    /// Returns true if the line is new.
    mutating func receive(_ line: LogLine, of boot: BootID) -> Bool {
        if let last, last.boot == boot, line.time <= last.time { return false }
        last = (boot, line.time)
        return true
    }
}

extension PlugFollower {
    /// Begins or replaces the subscription to the log.
    mutating func followLog(_ subscription: LogSubscription, now: Instant) -> [Action] {
        log = subscription
        return askForLog(now: now)
    }

    /// Requests the log from the plug if a request is due.
    mutating func askForLog(isDue: Bool = true, now: Instant) -> [Action] {
        guard isDue, welcomedAt != nil, let log else { return [] }
        self.log?.asksAgainAt = nil
        return inSession(nil, .followLog(log.level, for: log.remaining(now)), now: now)
    }

    /// Handles a log message of the session and returns the updates for the reader.
    mutating func heard(_ update: LogUpdate, now: Instant) -> [Action] {
        switch update {
        case .following(_, let duration): log?.granted(duration, now: now)
        case .line(let line):
            guard let clock, log?.receive(line, of: clock.boot) == true else { return [] }
        case .lost: break
        case .refused: log = nil
        case .ended:
            guard let log, log.remaining(now) > .zero else {
                self.log = nil
                break
            }
            // The grant ended before the renewal reached the plug. The pause limits the requests to a plug that always
            // ends its grants.
            self.log?.asksAgainAt = now + .seconds(1)
            return []
        }
        return [.deliver(.log(update))]
    }
}
