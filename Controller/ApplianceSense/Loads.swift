/// The loads of an appliance in a cycle. There are several if the user starts the next one within 20 minutes.
enum Loads {
    /// Milliseconds. A shorter rest does not separate loads.
    static let shortestRest: Int64 = 240_000
    /// The least length of a load in seconds.
    private static let shortest = 1_200

    /// Separates the pauses and the end of a cycle into those of its loads, with times and energies since the start of
    /// each load.
    static func separate(
        _ pauses: [ProgrammeRest], _ end: ProgrammeRest, _ profile: ApplianceProfile
    ) -> [[ProgrammeRest]] {
        var loads: [[ProgrammeRest]] = []
        var rests: [ProgrammeRest] = []
        var origin: ProgrammeRest?
        for pause in pauses.sorted(by: { $0.elapsed < $1.elapsed }) {
            var before = pause.since(origin)
            guard isBetweenLoads(before, before: end.since(pause), profile) else {
                rests.append(before)
                continue
            }
            before.seconds = 0
            loads.append(rests + [before])
            (rests, origin) = ([], pause)
        }
        return loads + [rests + [end.since(origin)]]
    }

    /// Returns true if the activity before and after a pause are two loads: they resemble each other, or the activity
    /// before the pause resembles a learned load.
    private static func isBetweenLoads(
        _ pause: ProgrammeRest, before rest: ProgrammeRest, _ profile: ApplianceProfile
    ) -> Bool {
        guard Int64(pause.seconds) * 1000 >= shortestRest, min(pause.elapsed, rest.elapsed) >= shortest else {
            return false
        }
        var ended = pause
        ended.seconds = 0
        if profile.hasEnd(like: ended) { return Int(rest.wattHours) * 10 >= Int(pause.wattHours) * 3 }
        return isAlike(pause.elapsed, rest.elapsed) && isAlike(pause.wattHours, rest.wattHours)
    }

    private static func isAlike(_ one: UInt16, _ other: UInt16) -> Bool {
        Int(max(one, other)) * 5 <= Int(min(one, other)) * 7
    }
}
