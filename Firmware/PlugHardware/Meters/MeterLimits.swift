/// What a meter can honestly say: less than `noLoad…` is nothing, more than `largest…` is impossible.
public struct MeterLimits: Hashable, Sendable {
    /// Watts; an active power below it is exactly 0, of either sign.
    public var noLoadPower = 0.0
    /// Amperes; a current below it is exactly 0 while the active power is. A capacitor draws current and no power: above this
    /// it shows.
    public var noLoadCurrent = 0.0
    /// Volts, to either side of zero.
    public var largestVoltage: Double
    /// Amperes, to either side of zero.
    public var largestCurrent: Double
    /// Watts, to either side of zero.
    public var largestPower: Double
    /// Watts that the power may lie above volts times amperes beside ``powerTolerance``: they are not measured at quite the
    /// same moment. Infinite where the two shall not be compared.
    public var powerSlack = 5.0

    /// As a fraction of volts times amperes.
    public static let powerTolerance = 0.1
    /// Hertz. What a mains has, generators on an island included.
    public static let mainsFrequencies = 40.0...70.0

    public init(
        largestVoltage: Double, largestCurrent: Double, largestPower: Double, noLoadPower: Double = 0,
        noLoadCurrent: Double = 0, powerSlack: Double = 5
    ) {
        self.largestVoltage = largestVoltage
        self.largestCurrent = largestCurrent
        self.largestPower = largestPower
        self.noLoadPower = noLoadPower
        self.noLoadCurrent = noLoadCurrent
        self.powerSlack = powerSlack
    }

    /// The same for a meter that is about to be calibrated: nothing is too small, and gains that do not fit each other yet are
    /// no fault.
    public var forCalibration: MeterLimits {
        MeterLimits(
            largestVoltage: largestVoltage, largestCurrent: largestCurrent, largestPower: largestPower,
            powerSlack: .infinity)
    }

    /// A board whose gains are larger measures more before its registers are full.
    func scaled(by calibration: Calibration) -> MeterLimits {
        var limits = self
        limits.largestVoltage *= calibration.voltageGain
        limits.largestCurrent *= calibration.currentGain
        limits.largestPower *= max(calibration.powerGain, calibration.voltageGain * calibration.currentGain)
        return limits
    }

    /// The quantities with nothing where there is none; a frequency that no mains has is left out.
    ///
    /// - Throws: ``MeterFault/impossible(_:)`` with what cannot be true.
    func judged(_ measured: MeterQuantities) throws(MeterFault) -> MeterQuantities {
        var quantities = measured
        try check(measured.activePower, below: largestPower, "W")
        try check(measured.voltageRMS ?? 0, below: largestVoltage, "V")
        try check(measured.currentRMS ?? 0, below: largestCurrent, "A")
        try check(measured.reactivePower ?? 0, below: largestPower, "var")
        try checkAgreement(measured)
        if let frequency = measured.frequency, !Self.mainsFrequencies.contains(frequency) { quantities.frequency = nil }
        guard abs(measured.activePower) < noLoadPower else { return quantities }
        quantities.activePower = 0
        if let current = measured.currentRMS, abs(current) < noLoadCurrent {
            quantities.currentRMS = 0
            quantities.reactivePower = measured.reactivePower.map { _ in 0 }
        }
        return quantities
    }

    /// Watt-hours of a span; nothing where its mean power would be.
    ///
    /// - Throws: ``MeterFault/impossible(_:)`` when no load can have drawn it.
    func judged(energy: Double, seconds: Double) throws(MeterFault) -> Double {
        // A second more: the chip's span and the clock's differ by what the bus and the scheduler take.
        guard energy.isFinite, abs(energy) * 3600 <= largestPower * (seconds + 1) else {
            throw .impossible("\(energy) Wh in \(seconds) s")
        }
        return abs(energy) * 3600 < noLoadPower * seconds ? 0 : energy
    }

    private func check(_ value: Double, below limit: Double, _ unit: String) throws(MeterFault) {
        guard value.isFinite, abs(value) <= limit else {
            throw .impossible("\(value) \(unit), and at most \(limit) \(unit) can be measured")
        }
    }

    /// Active and reactive power are parts of the apparent power.
    private func checkAgreement(_ measured: MeterQuantities) throws(MeterFault) {
        guard let apparent = measured.apparentPower else { return }
        let bound = apparent * (1 + Self.powerTolerance) + powerSlack
        guard abs(measured.activePower) <= bound, abs(measured.reactivePower ?? 0) <= bound else {
            throw .impossible(
                "\(measured.activePower) W and \(measured.reactivePower ?? 0) var, with only \(apparent) VA flowing; do the gains "
                    + "of the calibration fit each other?")
        }
    }
}
