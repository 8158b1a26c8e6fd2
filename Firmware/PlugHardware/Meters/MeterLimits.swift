/// The plausible range of a meter: values below `noLoad…` count as zero, values above `largest…` are impossible.
public struct MeterLimits: Hashable, Sendable {
    /// The active power in watts below which it counts as 0, with either sign.
    public var noLoadPower = 0.0
    /// The current in amperes below which it counts as 0 if the active power also counts as 0. Above this limit,
    /// current without power is reported, for example that of a capacitor.
    public var noLoadCurrent = 0.0
    /// The limit in volts, in both directions.
    public var largestVoltage: Double
    /// The limit in amperes, in both directions.
    public var largestCurrent: Double
    /// The limit in watts, in both directions.
    public var largestPower: Double
    /// The watts by which the power may exceed volts times amperes in addition to ``powerTolerance``, because the
    /// values are not measured simultaneously. Infinite to disable the comparison.
    public var powerSlack = 5.0

    /// The tolerance as a fraction of volts times amperes.
    public static let powerTolerance = 0.1
    /// The frequencies of mains in hertz, including island generators.
    public static let mainsFrequencies = 40.0...70.0

    /// Creates limits.
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

    /// The limits for a meter during calibration: no minimum, and no comparison of the power with volts times amperes,
    /// because their gains do not match yet.
    public var forCalibration: MeterLimits {
        MeterLimits(
            largestVoltage: largestVoltage, largestCurrent: largestCurrent, largestPower: largestPower,
            powerSlack: .infinity)
    }

    /// Returns the limits for a calibrated board. With a larger gain, a full register means a larger value.
    func scaled(by calibration: Calibration) -> MeterLimits {
        var limits = self
        limits.largestVoltage *= calibration.voltageGain
        limits.largestCurrent *= calibration.currentGain
        limits.largestPower *= max(calibration.powerGain, calibration.voltageGain * calibration.currentGain)
        return limits
    }

    /// Returns the quantities. Power and current below their minimum become zero, and an implausible frequency becomes
    /// nil.
    ///
    /// - Throws: ``MeterFault/impossible(_:)`` with the implausible value.
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

    /// Returns the watt-hours of an interval, or zero if their mean power is below the minimum.
    ///
    /// - Throws: ``MeterFault/impossible(_:)`` if no load can have used that energy.
    func judged(energy: Double, seconds: Double) throws(MeterFault) -> Double {
        // The extra second covers the delays of bus and scheduler between the chip's interval and the clock's.
        guard energy.isFinite, abs(energy) * 3600 <= largestPower * (seconds + 1) else {
            throw .impossible("\(energy) Wh in \(seconds) s")
        }
        return abs(energy) * 3600 < noLoadPower * seconds ? 0 : energy
    }

    private func check(_ value: Double, below limit: Double, _ unit: String) throws(MeterFault) {
        guard value.isFinite, abs(value) <= limit else {
            throw .impossible("\(value) \(unit), but at most \(limit) \(unit) can be measured")
        }
    }

    /// Checks that active and reactive power do not exceed the apparent power.
    private func checkAgreement(_ measured: MeterQuantities) throws(MeterFault) {
        guard let apparent = measured.apparentPower else { return }
        let bound = apparent * (1 + Self.powerTolerance) + powerSlack
        guard abs(measured.activePower) <= bound, abs(measured.reactivePower ?? 0) <= bound else {
            throw .impossible(
                "\(measured.activePower) W and \(measured.reactivePower ?? 0) var, with only \(apparent) VA; check that the gains "
                    + "of the calibration match")
        }
    }
}
