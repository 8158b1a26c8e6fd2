public import PlugHardware

/// A resistive load whose power somebody knows, and what is made of it.
public struct KnownLoad: Hashable, Sendable {
    /// Watts.
    public var power: Double
    /// Volts, from a voltmeter.
    public var voltage: Double?

    public init(power: Double, voltage: Double? = nil) {
        self.power = power
        self.voltage = voltage
    }

    /// Between two readings; long beside a chip's own average.
    static let pause = Duration.milliseconds(500)
    /// Readings that fail are taken again, so often altogether.
    private static let attempts = 3 * CalibrationRun.fewestReadings

    /// Measures the load and finds the calibration with which the meter says its power.
    ///
    /// - Parameters:
    ///   - ask: performs the work where a bus may be used.
    ///   - pause: waits between two readings.
    /// - Throws: `CalibrationFault` where it would make the meter worse, `HardwareFault` where it does not answer.
    public func calibration(
        of meter: BoardMeter,
        ask: @Sendable (@escaping Reading) async -> Result<MeterQuantities, HardwareFault>,
        pause: @Sendable () async -> Void
    ) async throws -> Calibration {
        let used = meter.uncalibrated
        let driver = try meter.uncalibratedMeter()
        let reading: Reading = { Result { () throws(HardwareFault) in try driver.quantities() } }
        var readings: [MeterQuantities] = []
        var last: HardwareFault?
        for _ in 0..<Self.attempts where readings.count < CalibrationRun.fewestReadings {
            switch await ask(reading) {
            case .success(let quantities): readings.append(quantities)
            case .failure(let fault): last = fault
            }
            await pause()
        }
        if readings.isEmpty, let last { throw last }
        let run = CalibrationRun(
            knownPower: power, knownVoltage: voltage, supply: driver.supply, measuresPower: driver.measuresPower,
            used: used)
        return try run.calibration(from: readings)
    }

    public typealias Reading = @Sendable () -> Result<MeterQuantities, HardwareFault>
}
