import ProtocolCore

/// The state of the light: the current pattern, its beginning, and the last output.
struct StatusLight: Sendable {
    private(set) var pattern = LightPattern.connected(lit: false)
    private var since: Instant?
    private var lit: Bool?

    private(set) var nextDeadline: Instant?

    /// Shows the pattern, from its beginning if it is new. Returns the new output, or nil if it is unchanged.
    mutating func show(_ wanted: LightPattern, now: Instant) -> Bool? {
        let start = wanted == pattern ? since ?? now : now
        pattern = wanted
        since = start
        let phase = wanted.course.phase(after: now - start)
        nextDeadline = phase.until.map { start + $0 }
        let wasLit = lit
        lit = phase.lit
        return lit == wasLit ? nil : lit
    }
}
