/// How long an appliance that has gone quiet is waited for before its programme is said to be finished.
///
/// A wrong "finished" is worse than a late one. So an unknown appliance is waited for as long as a pause can be; each cycle
/// that was seen gives reason to wait shorter, but never less than its pauses lasted.
struct PauseJudgement {
    /// A pause within a cycle is at most this long, by definition.
    static let longestPause: Int64 = 1_200_000

    /// How much quiet, in milliseconds, ends the programme.
    var delay: Int64
    /// The same when the level has fallen below what the appliance draws in its pauses: then it has turned itself off.
    var delayWhenOff: Int64
    /// The level, in tenths of a watt, at which it counts as off. Nil where its pauses are not known.
    var offLevel: Int32?
    /// Whether it turned itself off after each end so far. Then it may have more to do as long as it has not.
    var turnsOff: Bool

    /// - Parameters:
    ///   - longestHere: the longest pause of the cycle so far, in milliseconds.
    ///   - levelHere: the lowest level of its pauses; nil with fewer than five, too few to know.
    init(_ profile: ApplianceProfile, longestHere: Int64, levelHere: Int32?) {
        let longest = max(longestHere, Int64(profile.pauses.max() ?? 0) * 1000)
        // The more cycles there were, the less likely a longer pause than theirs is.
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
        // Clearly below: by 40 % and by 0.8 W, more than a meter's last digit wavers in the mean of a minute.
        offLevel = level.flatMap { $0 >= 8 ? min($0 * 6 / 10, $0 - 8) : nil }
        turnsOff = offLevel.flatMap { off in profile.endLevel.map { $0 <= off } } ?? false
    }

    /// - Parameters, in milliseconds:
    ///   - quiet: how long it has been quiet.
    ///   - off: for how long of that, up to now, it was off.
    func isEnd(quiet: Int64, off: Int64) -> Bool {
        off >= delayWhenOff || quiet >= (turnsOff ? Self.longestPause : delay)
    }
}
