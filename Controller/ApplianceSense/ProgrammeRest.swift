/// A rest of a programme: a pause, or the time after its end; and the part of the programme before the rest.
public struct ProgrammeRest: Sendable, Hashable {
    /// The length of a pause in seconds; 0 for the end of a programme.
    public var seconds: UInt16
    /// Seconds from the start of the programme to the rest.
    public var elapsed: UInt16
    /// The energy from the start of the programme to the rest, in watt-hours.
    public var wattHours: UInt16
    /// Seconds of activity since the previous pause of at least ``shortestPause``.
    public var burst: UInt16
    /// The mean power in the last one to two minutes of that activity, in watts.
    public var power: UInt16
    /// The mean power during the rest, in tenths of a watt; ``unknownLevel`` if it was not measured.
    public var level: UInt16

    /// Milliseconds. Shorter pauses do not separate bursts of activity, and are not stored.
    static let shortestPause: Int64 = 45_000
    static let unknownLevel = UInt16.max

    var isEnd: Bool { seconds == 0 }

    /// Returns true if this rest may be the end of the same programme as the other one, which is an end: the times and
    /// energies are similar, the same part of the machine was active, and the level is not clearly above the end's.
    func isLike(end: ProgrammeRest) -> Bool {
        isNear(end) && Self.isNear(power, end.power, percent: 50, more: 10) && !isAbove(end)
    }

    /// Returns true if this rest may be the same pause of the same programme as the other one.
    func isLike(pause: ProgrammeRest) -> Bool {
        isNear(pause)
            && (Self.isNear(burst, pause.burst, percent: 200, more: 20)
                || Self.isNear(power, pause.power, percent: 100, more: 10))
    }

    /// Returns true if this pause may be the same one as the other pause, and began at a more similar time than the rest.
    func isCloser(to pause: ProgrammeRest, than rest: ProgrammeRest) -> Bool {
        func distance(_ one: ProgrammeRest) -> UInt { (Int(one.elapsed) - Int(pause.elapsed)).magnitude }
        return isLike(pause: pause) && distance(self) < distance(rest)
    }

    private func isNear(_ other: ProgrammeRest) -> Bool {
        Self.isNear(elapsed, other.elapsed, percent: 12, more: 90)
            && Self.isNear(wattHours, other.wattHours, percent: 25, more: 20)
    }

    /// Returns true if the level is clearly above the other rest's level, as that of a paused machine is above that of
    /// a machine that is off. False if a level is unknown.
    func isAbove(_ other: ProgrammeRest) -> Bool {
        guard level != Self.unknownLevel, other.level != Self.unknownLevel else { return false }
        return Int(level) >= Int(other.level) + max(8, Int(other.level) / 3)
    }

    /// Returns the rest with its time and energy since the end of an earlier pause of the same cycle.
    func since(_ pause: ProgrammeRest?) -> ProgrammeRest {
        guard let pause else { return self }
        var rest = self
        rest.elapsed = UInt16(clamping: Int(elapsed) - Int(pause.elapsed) - Int(pause.seconds))
        rest.wattHours = UInt16(clamping: Int(wattHours) - Int(pause.wattHours))
        return rest
    }

    /// Returns true if the larger value exceeds the smaller one by at most this share and `more`.
    private static func isNear(_ one: UInt16, _ other: UInt16, percent: Int, more: Int) -> Bool {
        let (least, most) = (Int(min(one, other)), Int(max(one, other)))
        return most * 100 <= least * (100 + percent) + more * 100
    }
}

extension ProgrammeRest {
    /// The number of ``numbers``.
    public static let numberCount = 6

    /// The properties in their order, for storing them.
    public var numbers: [UInt16] { [seconds, elapsed, wattHours, burst, power, level] }

    /// Creates a rest from its ``numbers``. Returns nil if there are more or fewer than six.
    public init?(numbers: some Collection<UInt16>) {
        let all = Array(numbers)
        guard all.count == Self.numberCount else { return nil }
        self.init(
            seconds: all[0], elapsed: all[1], wattHours: all[2], burst: all[3], power: all[4], level: all[5])
    }
}
