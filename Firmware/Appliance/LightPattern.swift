import ProtocolCore

/// What the plug's light says.
enum LightPattern: Hashable {
    /// Lit while the relay is on.
    case steady(lit: Bool)
    /// On and off in turn, each for `half`, lit first.
    case blinking(half: Duration)

    static let identify = LightPattern.blinking(half: .milliseconds(250))
    /// Faster than anything else that it shows.
    static let nearReset = LightPattern.blinking(half: .milliseconds(50))
    static let tripped = LightPattern.blinking(half: .milliseconds(100))

    func isLit(after elapsed: Duration) -> Bool {
        switch self {
        case .steady(let lit): lit
        case .blinking(let half): phase(after: elapsed, half).isMultiple(of: 2)
        }
    }

    func nextChange(after elapsed: Duration) -> Duration? {
        switch self {
        case .steady: nil
        case .blinking(let half): half * (phase(after: elapsed, half) + 1)
        }
    }

    private func phase(after elapsed: Duration, _ half: Duration) -> Int64 {
        elapsed.wholeNanoseconds / half.wholeNanoseconds
    }
}

/// The light over time: the pattern that shows, since when, and how the light was last set.
struct StatusLight {
    private var pattern: LightPattern?
    private var since = Instant.zero
    private var lit: Bool?

    private(set) var nextDeadline: Instant?

    /// Shows the pattern, from its beginning if it is a new one. Returns how to set the light, nil if it stays.
    mutating func show(_ wanted: LightPattern, now: Instant) -> Bool? {
        if wanted != pattern {
            pattern = wanted
            since = now
        }
        nextDeadline = wanted.nextChange(after: now - since).map { since + $0 }
        let wasLit = lit
        lit = wanted.isLit(after: now - since)
        return lit == wasLit ? nil : lit
    }
}
