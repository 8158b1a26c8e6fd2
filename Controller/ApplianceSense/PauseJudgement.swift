/// Decides how long an appliance must be quiet before its programme counts as finished.
///
/// A wrong "finished" is worse than a late one. For an unknown appliance that has not turned itself off, the delay is
/// the longest possible pause. If the programme so far resembles complete programmes that were learned, the delay is
/// short, unless there was a similar pause, which is then the least delay.
struct PauseJudgement {
    /// Milliseconds. A longer pause ends a cycle by definition.
    static let longestPause: Int64 = 1_200_000
    /// Milliseconds. No programme ends earlier, because the power of the rest is not known yet.
    static let shortestDelay: Int64 = 60_000

    /// How certain it is that a programme is over.
    enum Certainty {
        case probable, certain
    }

    /// The expectation of a long pause, from the programme so far.
    enum Outlook {
        /// A pause of any length may follow.
        case open
        /// A drum has turned often, but has not spun yet. Laundry may still soak, also with the power of a machine that
        /// is off.
        case soaking
        /// A drum has spun or turned against creases, or a pump has run shortly after a long pause in which dishes
        /// dried. No pause follows that is much longer than the earlier ones.
        case ending
    }

    /// The power at which the appliance counts as off, in tenths of a watt. Nil if the level of its pauses is unknown
    /// or not above that of a machine that is off, or if a long pause had this power.
    let offLevel: Int32?
    /// The delays in milliseconds if the present rest resembles no learned end: while the appliance is on, and after it
    /// turned itself off, which means that its power fell to ``offLevel``.
    private let delay: Int64
    private let delayWhenOff: Int64
    /// The delay in milliseconds after which the programme is probably over, if nothing else shows it.
    private let probableDelay: Int64

    /// - Parameters:
    ///   - longestHere: the longest pause of the cycle so far, in milliseconds.
    ///   - levelHere: the mean power of the cycle's pauses, in tenths of a watt; nil if it was not measured.
    ///   - outlook: what the cycle shows about a long pause.
    init(_ profile: ApplianceProfile, longestHere: Int64, levelHere: Int32?, outlook: Outlook) {
        let level = profile.pauseLevel.map { min($0, levelHere ?? $0) } ?? levelHere
        // At least 40 % and 0.8 W below the level of the pauses. A meter's last digit fluctuates less in 20-second
        // means.
        let clear = level.flatMap { $0 >= 8 ? min($0 * 6 / 10, $0 - 8) : nil }
        // A smaller difference counts if the power is that between cycles.
        let usual = level.flatMap { level in
            profile.standbyLevel.flatMap { level - $0 >= 5 ? $0 + (level - $0) / 3 : nil }
        }
        let off = [clear, usual].compactMap { $0 }.max()
        // An appliance that was once as quiet in a long pause is not necessarily off now.
        offLevel = off.flatMap { off in
            profile.rests.contains { !$0.isEnd && $0.seconds >= 180 && Int32($0.level) <= off } ? nil : off
        }
        let turnsOff = offLevel.flatMap { off in profile.endLevel.map { $0 <= off } } ?? false
        // With more observed cycles, a pause longer than theirs is less likely.
        let longest = max(longestHere, Int64(profile.pauses.max() ?? 0) * 1000) * 5 / 4 + 30_000
        probableDelay = max(longest, 300_000)
        delay = outlook != .ending || turnsOff ? Self.longestPause : min(max(longest, 550_000), Self.longestPause)
        delayWhenOff =
            switch profile.cycles {
            case _ where outlook == .soaking: Self.longestPause
            case 0: 540_000
            case 1..<5: 420_000
            default: turnsOff ? 110_000 : 300_000
            }
    }

    /// Returns how certain it is that the programme is over; nil if it may as well continue.
    ///
    /// - Parameters:
    ///   - rest: the present rest.
    ///   - quiet: milliseconds of quiet until now.
    ///   - off: milliseconds for which the appliance has been off until now.
    ///   - learned: the rests of learned cycles.
    ///   - here: the pauses of this cycle.
    func certainty(
        _ rest: ProgrammeRest, quiet: Int64, off: Int64, learned: [ProgrammeRest], here: [ProgrammeRest]
    ) -> Certainty? {
        guard quiet >= Self.shortestDelay else { return nil }
        if quiet >= delay || off >= delayWhenOff { return .certain }
        let ends = learned.count { $0.isEnd && rest.isLike(end: $0) }
        let isOff = off > 0
        guard ends > 0 else { return quiet >= (isOff ? Self.shortestDelay : probableDelay) ? .probable : nil }
        // Without a lower power, more similar ends are needed.
        let least: Int64 =
            switch ends {
            case 1: isOff ? 240_000 : 590_000
            case _ where isOff: Self.shortestDelay
            case _ where learned.count(where: \.isEnd) < 5: 300_000
            default: 118_000
            }
        var pauses = (learned + here).filter { !$0.isEnd && rest.isLike(pause: $0) && !$0.isAbove(rest) }
        // A pause that this cycle has already had is not due any more, if several programmes ended like this.
        if ends > 1 { pauses.removeAll { pause in here.contains { $0.isCloser(to: pause, than: rest) } } }
        let longest = Int64(pauses.map(\.seconds).max() ?? 0) * 1_150 + 15_000
        if quiet >= max(least, longest) { return .certain }
        return quiet >= longest ? .probable : nil
    }
}
