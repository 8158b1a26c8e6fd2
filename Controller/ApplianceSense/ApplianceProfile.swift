/// The facts learned about the appliance on a plug from earlier cycles: plain values of at most 2 kB, to be
/// stored by the caller. An empty profile is for a plug that was never watched.
public struct ApplianceProfile: Sendable, Hashable {
    /// The longest pause within each of the last cycles, in seconds, newest last.
    public var pauses: [UInt16] = []
    /// The mean power of the pauses of each of the last cycles, in tenths of a watt, newest last: the power of the
    /// appliance while it is on and rests. 255 if no pause was long enough to measure it, and for 25.5 W or more.
    public var pauseLevels: [UInt8] = []
    /// The lowest power in the 20 minutes after a cycle, in tenths of a watt, smoothed over the cycles. It is below the
    /// level of the pauses if the appliance turns itself off. Nil before the first cycle.
    public var endLevel: Int32?
    /// The power between cycles, in tenths of a watt, smoothed over the cycles; nil if it was never measured.
    public var standbyLevel: Int32?
    /// The usual peak power of programmes, in tenths of a watt; nil before the first programme.
    public var peakLevel: Int32?
    /// The known compressor; nil if the plug has none.
    public var compressor: Compressor?
    /// The longer pauses and the end of each of the last cycles, newest last. Each cycle is a list of pauses and then
    /// an end.
    public var rests: [ProgrammeRest] = []

    /// The learned properties of a compressor.
    public struct Compressor: Sendable, Hashable {
        /// The number of learned runs.
        public var runs: UInt16
        /// The usual power after the first minute of a run, in tenths of a watt.
        public var level: Int32
        /// The usual length of a run.
        public var runMilliseconds: Int64
        /// The usual time from one start to the next.
        public var periodMilliseconds: Int64
        /// True if the runs have different levels, as those of two compressors on the same plug.
        public var varies: Bool

        /// Creates the properties.
        public init(
            runs: UInt16, level: Int32, runMilliseconds: Int64, periodMilliseconds: Int64, varies: Bool = false
        ) {
            self.runs = runs
            self.level = level
            self.runMilliseconds = runMilliseconds
            self.periodMilliseconds = periodMilliseconds
            self.varies = varies
        }

        /// The fraction of the time in which the compressor runs, 0 to 1.
        public var duty: Double {
            periodMilliseconds > 0 ? min(1, Double(runMilliseconds) / Double(periodMilliseconds)) : 0
        }

        /// Returns true if the level is within 40 % below and 60 % above the known one, which allows for a warm room or
        /// a full refrigerator; or within 60 % below and 120 % above it, if the levels vary.
        func fits(_ run: Int64) -> Bool {
            let (least, most): (Int64, Int64) = varies ? (4, 22) : (6, 16)
            return run * 10 >= Int64(level) * least && run * 10 <= Int64(level) * most
        }

        /// The power in tenths of a watt from which the compressor is on.
        var onFrom: Int32 { max(100, varies ? level / 10 * 3 : level / 2) }
    }

    /// The maximum number of learned cycles. Older cycles are forgotten, because appliances and habits change.
    static let cycleLimit = 16

    /// Creates an empty profile.
    public init() {}

    /// The number of programme cycles behind the profile, at most 16.
    public var cycles: Int { pauses.count }

    /// The power of pauses in the last cycles, in tenths of a watt: the lower quartile, so that one odd cycle does not
    /// hide the usual power.
    var pauseLevel: Int32? {
        let levels = pauseLevels.filter { $0 < .max }.sorted()
        return levels.isEmpty ? nil : Int32(levels[levels.count / 4])
    }

    /// Returns true if a learned programme ended as this rest began.
    func hasEnd(like rest: ProgrammeRest) -> Bool { rests.contains { $0.isEnd && rest.isLike(end: $0) } }

    /// The profile without implausible values, which a stored profile may contain.
    public var plausible: ApplianceProfile {
        var plausible = ApplianceProfile()
        plausible.pauses = Array(pauses.suffix(Self.cycleLimit))
        plausible.pauseLevels = Array(pauseLevels.suffix(Self.cycleLimit))
        plausible.rests = Self.newest(rests)
        plausible.endLevel = endLevel.flatMap { (0...100).contains($0) ? $0 : nil }
        plausible.standbyLevel = standbyLevel.flatMap { (0...100).contains($0) ? $0 : nil }
        plausible.peakLevel = peakLevel.flatMap { (0...PowerStep.largest).contains($0) ? $0 : nil }
        plausible.compressor = compressor.flatMap {
            (1...PowerStep.largest).contains($0.level) && (1...86_400_000).contains($0.runMilliseconds)
                && (1...86_400_000).contains($0.periodMilliseconds) ? $0 : nil
        }
        return plausible
    }

    /// The power in tenths of a watt from which the appliance is active: 10 W, or 4 W above its standby level if that
    /// is higher.
    var activeFrom: Int32 { max(100, (standbyLevel ?? 0) + 40) }

    /// The maximum number of rests.
    static let restLimit = 96

    /// Returns the rests of the newest cycles within the limits.
    private static func newest(_ rests: [ProgrammeRest]) -> [ProgrammeRest] {
        var newest = rests[...]
        while newest.count > restLimit || newest.count(where: \.isEnd) > cycleLimit {
            newest = newest.drop { !$0.isEnd }.dropFirst()
        }
        return Array(newest)
    }

    /// Learns the pauses and the end of one load.
    mutating func learn(_ load: [ProgrammeRest]) {
        pauses.append(load.map(\.seconds).max() ?? 0)
        if pauses.count > Self.cycleLimit { pauses.removeFirst() }
        rests = Self.newest(rests + load)
    }

    mutating func learn(pauses level: Int32?, end: Int32?, peak: Int32) {
        pauseLevels.append(level.map { UInt8(clamping: $0) } ?? .max)
        if pauseLevels.count > Self.cycleLimit { pauseLevels.removeFirst() }
        // After the first cycle the level rises at once and falls slowly. A single low level after cycles with a high
        // level therefore does not mean that the appliance turns itself off.
        if let end { endLevel = endLevel.map { end > $0 ? end : $0 + (end - $0) / 8 } ?? end }
        peakLevel = peakLevel.map { $0 + (peak - $0) / 4 } ?? peak
    }

    mutating func learn(standby: Int32) {
        standbyLevel = standbyLevel.map { $0 + (standby - $0) / 4 } ?? standby
    }
}
