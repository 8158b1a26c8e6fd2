/// The pauses of a cycle.
struct Pauses {
    private static let limit = 8

    /// The longest pause in milliseconds, of those that are stored.
    var longest: Int64 { Int64(rests.map(\.seconds).max() ?? 0) * 1000 }
    /// Pauses of at least ``ProgrammeRest/shortestPause``, the longest of those that resemble each other.
    private(set) var rests: [ProgrammeRest] = []
    private var measured = 0
    private var sums: (energy: Int64, covered: Int64) = (0, 0)

    /// The mean power in tenths of a watt; nil before three pauses or one minute of pauses were measured.
    var level: Int32? {
        measured >= 3 || sums.covered >= 60_000 ? Int32(clamping: sums.energy / max(1, sums.covered)) : nil
    }

    /// Adds the power of a pause, if the pause is long enough to measure it.
    mutating func add(_ quiet: Quiet) {
        guard quiet.covered >= ProgrammeTracker.tellingPause else { return }
        measured += 1
        sums.covered += quiet.covered
        sums.energy += quiet.level * quiet.covered
    }

    /// The pauses since an earlier one, with their times and energies since its end.
    func since(_ pause: ProgrammeRest?) -> [ProgrammeRest] {
        guard let pause else { return rests }
        return rests.filter { $0.elapsed > pause.elapsed }.map { $0.since(pause) }
    }

    mutating func add(_ rest: ProgrammeRest) {
        if let index = rests.firstIndex(where: { $0.isLike(pause: rest) }) {
            if rest.seconds > rests[index].seconds { rests[index] = rest }
            return
        }
        rests.append(rest)
        guard rests.count > Self.limit, let least = rests.indices.min(by: { rests[$0].seconds < rests[$1].seconds })
        else { return }
        rests.remove(at: least)
    }
}
