import PlugModel
import ProtocolCore

/// The wish to hear a plug's log, which lasts longer than a connection and than what a plug grants at a time.
struct FollowedLog {
    let level: LogLevel
    /// Nil: until nobody wants to hear it any more.
    let until: Instant?
    /// Half of the granted time is over: asked again in time, the plug does not fall back in between.
    var asksAgainAt: Instant?
    /// The last line that came. A new connection brings lines a second time, which the plug's clock tells.
    private var last: (boot: BootID, time: Instant)?

    init(level: LogLevel, until: Instant?) {
        self.level = level
        self.until = until
    }

    var nextDeadline: Instant? { asksAgainAt }

    func isDue(_ now: Instant) -> Bool { asksAgainAt.map { $0 <= now } ?? false }

    /// What remains, in whole seconds, rather longer; zero when the time is over.
    func remaining(_ now: Instant) -> Duration {
        guard let until else { return PlugWire.longestLog }
        guard until > now else { return .zero }
        return min(PlugWire.longestLog, .seconds((until - now).components.seconds + 1))
    }

    mutating func granted(_ duration: Duration, now: Instant) {
        // A plug that grants nothing is not asked without end.
        let end = now + max(duration, .seconds(2))
        asksAgainAt = until.map { $0 <= end } ?? false ? nil : now + (end - now) / 2
    }

    /// Whether the line is news.
    mutating func take(_ line: LogLine, of boot: BootID) -> Bool {
        if let last, last.boot == boot, line.time <= last.time { return false }
        last = (boot, line.time)
        return true
    }
}

extension PlugFollower {
    mutating func followLog(_ wish: FollowedLog, now: Instant) -> [Action] {
        log = wish
        return askForLog(now: now)
    }

    mutating func askForLog(isDue: Bool = true, now: Instant) -> [Action] {
        guard isDue, welcomedAt != nil, let log else { return [] }
        self.log?.asksAgainAt = nil
        return inSession(nil, .followLog(log.level, for: log.remaining(now)), now: now)
    }

    mutating func heard(_ update: LogUpdate, now: Instant) -> [Action] {
        switch update {
        case .following(_, let duration): log?.granted(duration, now: now)
        case .line(let line):
            guard let clock, log?.take(line, of: clock.boot) == true else { return [] }
        case .lost: break
        case .refused: log = nil
        case .ended:
            guard let log, log.remaining(now) > .zero else {
                self.log = nil
                break
            }
            // It ended before the plug heard that more is wanted. One that always ends is not asked all the time.
            self.log?.asksAgainAt = now + .seconds(1)
            return []
        }
        return [.deliver(.log(update))]
    }
}
