/// Decides how long an appliance must be quiet before its programme counts as finished.
///
/// A wrong "finished" is worse than a late one. For an unknown appliance that has not turned itself off, the delay is
/// the longest possible pause. More observed cycles shorten the delay. Unless the appliance turned itself off, the
/// delay is at least the longest observed pause.
struct PauseJudgement {
    /// Milliseconds. A longer pause ends a cycle by definition.
    static let longestPause: Int64 = 1_200_000

    /// The milliseconds of quiet that end the programme.
    var delay: Int64
    /// The delay in milliseconds after the appliance turned itself off, which means that its power fell to
    /// ``offLevel``.
    var delayWhenOff: Int64
    /// The power at which the appliance counts as off, in tenths of a watt. Nil if the level of its pauses is unknown
    /// or below 0.8 W.
    var offLevel: Int32?
    /// True if the appliance usually turns itself off after a cycle. Then only a power of ``offLevel`` or less, or the
    /// longest possible pause, ends the programme.
    var turnsOff: Bool

    /// - Parameters:
    ///   - longestHere: the longest pause of the cycle so far, in milliseconds.
    ///   - levelHere: the lowest power of the cycle's pauses, in tenths of a watt; nil if the cycle has had fewer than
    ///     five pauses of at least ``ProgrammeTracker/tellingPause``.
    init(_ profile: ApplianceProfile, longestHere: Int64, levelHere: Int32?) {
        let longest = max(longestHere, Int64(profile.pauses.max() ?? 0) * 1000)
        // With more observed cycles, a pause longer than theirs is less likely.
        (delay, delayWhenOff) =
            switch profile.cycles {
            case 0: (Self.longestPause, 600_000)
            case 1: (max(longest * 5 / 2, 900_000), 300_000)
            case 2: (max(longest * 5 / 2, 720_000), 240_000)
            case 3...4: (max(longest * 2, 480_000), 120_000)
            case 5...7: (max(longest * 2, 300_000), 90_000)
            default: (max(longest * 3 / 2 + 30_000, 180_000), 60_000)
            }
        delay = min(delay, Self.longestPause)
        delayWhenOff = min(delayWhenOff, delay)
        let level = [profile.pauseLevel, levelHere].compactMap { $0 }.min()
        // At least 40 % and 0.8 W below the level of the pauses. A meter's last digit fluctuates less in 20-second
        // means.
        offLevel = level.flatMap { $0 >= 8 ? min($0 * 6 / 10, $0 - 8) : nil }
        turnsOff = offLevel.flatMap { off in profile.endLevel.map { $0 <= off } } ?? false
    }

    /// Returns true if the programme is over.
    ///
    /// - Parameters:
    ///   - quiet: milliseconds of quiet until now.
    ///   - off: milliseconds for which the appliance has been off until now.
    func isEnd(quiet: Int64, off: Int64) -> Bool {
        off >= delayWhenOff || quiet >= (turnsOff ? Self.longestPause : delay)
    }
}
