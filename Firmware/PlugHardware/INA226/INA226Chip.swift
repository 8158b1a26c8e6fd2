/// The registers of the INA226 (data sheet SBOS547B) in addition to the common ones of its family.
enum INA226Constants {
    static let current: UInt8 = 0x04
    /// CONFIG after a reset.
    static let configurationDefault: UInt16 = 0x4127
    /// Means of 16 samples of 1.1 ms each, voltage and current continuously: one measurement every 35 ms.
    static let configuration: UInt16 = 0x4527
    /// The calibration for which a step of the current is a step of the shunt's voltage divided by the shunt's
    /// resistance, without rounding: 0.00512 / (2.5 µV / R · R).
    static let calibration: UInt16 = 2048
    /// The step of the shunt's voltage in volts.
    static let shuntStep = 2.5e-6
    static let busStep = 1.25e-3
    /// The full scale of the shunt's voltage and of the bus voltage.
    static let fullScale = 32_767.0
}

/// Sets up an INA226 and reads it.
struct INA226Chip: MeterChip {
    static let name = "INA226"
    static let addresses = INARegisters.addresses

    private typealias C = INA226Constants

    let shunt: Double
    let isReversed: Bool
    let calibration: Calibration

    func setUp(_ registers: ChipRegisters) throws(MeterFault) -> Bool {
        try registers.identify(as: "ina226", die: INARegisters.ina226Die)
        let configuration = try registers.read(INARegisters.configuration)
        let calibration = try registers.read(INARegisters.calibration)
        if configuration == C.configuration, calibration == C.calibration { return true }
        try registers.set(INARegisters.configuration, to: C.configuration, of: Self.name)
        try registers.set(INARegisters.calibration, to: C.calibration, of: Self.name)
        return false
    }

    func read(_ registers: ChipRegisters) throws(MeterFault) -> MeterQuantities {
        let bus = try registers.read(INARegisters.busVoltage).signed
        let current = try registers.read(C.current).signed
        guard try registers.read(INARegisters.calibration) == C.calibration else { throw .wasReset }
        guard abs(current) < C.fullScale else {
            throw .impossible("the current is above the chip's range with this shunt")
        }
        guard bus >= 0, bus < C.fullScale else { throw .impossible("the voltage is out of the chip's range") }
        return MeterQuantities(
            directCurrent: current * C.shuntStep / shunt, at: bus * C.busStep, isReversed, calibration)
    }
}
