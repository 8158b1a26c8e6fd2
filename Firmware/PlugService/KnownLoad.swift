public import PlugHardware

/// A resistive load of known power, and the calibration run that uses it.
public struct KnownLoad: Hashable, Sendable {
    /// The power in watts.
    public var power: Double
    /// The voltage in volts, as measured with a voltmeter, or nil.
    public var voltage: Double?

    /// Creates a load.
    public init(power: Double, voltage: Double? = nil) {
        self.power = power
        self.voltage = voltage
    }

    /// The time between two readings, longer than the averaging time of the chips.
    static let pause = Duration.milliseconds(500)
    /// The maximum number of readings, including failed ones.
    private static let attempts = 3 * CalibrationRun.fewestReadings

    /// Measures the load and calculates the calibration with which the meter shows the known power.
    ///
    /// - Parameters:
    ///   - meter: The meter to calibrate.
    ///   - ask: Performs a reading on a thread that may use the bus.
    ///   - pause: Waits between two readings.
    /// - Throws: `CalibrationFault` if the result is not usable, `HardwareFault` if the driver cannot be created or no
    ///   reading succeeded.
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

    /// A closure that reads the quantities of the meter once.
    public typealias Reading = @Sendable () -> Result<MeterQuantities, HardwareFault>
}
