/// The registers of the INA260 in addition to the common ones of its family. Its shunt of 2 mΩ is integrated.
enum INA260Constants {
    static let current: UInt8 = 0x01
    /// CONFIG after a reset.
    static let configurationDefault: UInt16 = 0x6127
    /// Means of 16 samples of 1.1 ms each, voltage and current continuously: one measurement every 35 ms.
    static let configuration: UInt16 = 0x6527
    /// The step of the current in amperes.
    static let currentStep = 1.25e-3
    /// The step of the voltage in volts.
    static let busStep = 1.25e-3
    /// The full scale of a register.
    static let fullScale = 32_767.0
}

/// Sets up an INA260 and reads it.
struct INA260Chip: MeterChip {
    static let name = "INA260"
    static let addresses = INARegisters.addresses

    private typealias C = INA260Constants

    let isReversed: Bool
    let calibration: Calibration

    func setUp(_ registers: ChipRegisters) throws(MeterFault) -> Bool {
        try registers.identify(as: "ina260", die: INARegisters.ina260Die)
        if try registers.read(INARegisters.configuration) == C.configuration { return true }
        try registers.set(INARegisters.configuration, to: C.configuration, of: Self.name)
        return false
    }

    func read(_ registers: ChipRegisters) throws(MeterFault) -> MeterQuantities {
        let bus = try registers.read(INARegisters.busVoltage).signed
        let current = try registers.read(C.current).signed
        // After a reset the chip still measures, only with a shorter averaging time. The reset is reported
        // nevertheless.
        guard try registers.read(INARegisters.configuration) == C.configuration else { throw .wasReset }
        guard abs(current) < C.fullScale else { throw .impossible("the current is out of the chip's range") }
        guard bus >= 0, bus < C.fullScale else { throw .impossible("the voltage is out of the chip's range") }
        return MeterQuantities(directCurrent: current * C.currentStep, at: bus * C.busStep, isReversed, calibration)
    }
}
