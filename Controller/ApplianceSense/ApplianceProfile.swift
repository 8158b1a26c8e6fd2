/// What is known of the appliance on a plug from its earlier cycles: plain values, less than 100 bytes, to be stored by whoever has
/// a place for them. An empty one is for a plug that was never watched.
public struct ApplianceProfile: Sendable, Hashable, Codable {
    /// The longest pause within each of the last cycles, in seconds, newest last.
    public var pauses: [UInt16] = []
    /// The lowest level of a pause within each of the last cycles, in tenths of a watt, newest last: what the appliance draws
    /// while it is on and rests. 255 where it had no pause long enough to tell.
    public var pauseLevels: [UInt8] = []
    /// To what it falls within 20 minutes of a cycle's end, in tenths of a watt: below its pauses where it turns itself off.
    public var endLevel: Int32?
    /// What it draws between cycles, in tenths of a watt.
    public var standbyLevel: Int32?
    /// The peak of its programmes, in tenths of a watt.
    public var peakLevel: Int32?
    public var compressor: Compressor?

    public struct Compressor: Sendable, Hashable, Codable {
        public var runs: UInt16
        /// In tenths of a watt, after the start.
        public var level: Int32
        public var runMilliseconds: Int64
        /// From one start to the next.
        public var periodMilliseconds: Int64

        public init(runs: UInt16, level: Int32, runMilliseconds: Int64, periodMilliseconds: Int64) {
            self.runs = runs
            self.level = level
            self.runMilliseconds = runMilliseconds
            self.periodMilliseconds = periodMilliseconds
        }

        /// The part of the time in which it runs, 0 to 1.
        public var duty: Double {
            periodMilliseconds > 0 ? min(1, Double(runMilliseconds) / Double(periodMilliseconds)) : 0
        }
    }

    /// More cycles than these are forgotten: an appliance is replaced, a habit changes.
    static let cycleLimit = 16

    public init() {}

    /// How many cycles of programmes the profile rests on, 16 at most.
    public var cycles: Int { pauses.count }

    /// The lowest level of a pause within the last cycles, in tenths of a watt.
    var pauseLevel: Int32? { pauseLevels.filter { $0 < .max }.min().map(Int32.init) }

    /// A profile from a store may hold anything; what no appliance has is left out.
    var plausible: ApplianceProfile {
        var plausible = ApplianceProfile()
        plausible.pauses = Array(pauses.suffix(Self.cycleLimit))
        plausible.pauseLevels = Array(pauseLevels.suffix(Self.cycleLimit))
        plausible.endLevel = endLevel.flatMap { (0...100).contains($0) ? $0 : nil }
        plausible.standbyLevel = standbyLevel.flatMap { (0...100).contains($0) ? $0 : nil }
        plausible.peakLevel = peakLevel.flatMap { (0...PowerStep.largest).contains($0) ? $0 : nil }
        plausible.compressor = compressor.flatMap {
            (1...PowerStep.largest).contains($0.level) && (1...86_400_000).contains($0.runMilliseconds)
                && (1...86_400_000).contains($0.periodMilliseconds) ? $0 : nil
        }
        return plausible
    }

    /// From how many tenths of a watt on the appliance is active: 10 W, or more where it draws nearly that between cycles.
    var activeFrom: Int32 { max(100, (standbyLevel ?? 0) + 40) }

    mutating func learn(longestPause milliseconds: Int64, level: Int32?, end: Int32?, peak: Int32) {
        // A pause counts as the next whole second, so that a rule made of it is never a moment short.
        pauses.append(UInt16(clamping: (milliseconds + 999) / 1000))
        if pauses.count > Self.cycleLimit { pauses.removeFirst() }
        pauseLevels.append(level.map { UInt8(clamping: $0) } ?? .max)
        if pauseLevels.count > Self.cycleLimit { pauseLevels.removeFirst() }
        // Up at once, down slowly: a level that is too low would take an end for a pause.
        if let end { endLevel = endLevel.map { end > $0 ? end : $0 + (end - $0) / 8 } ?? end }
        peakLevel = peakLevel.map { $0 + (peak - $0) / 4 } ?? peak
    }

    mutating func learn(standby: Int32) {
        standbyLevel = standbyLevel.map { $0 + (standby - $0) / 4 } ?? standby
    }
}
