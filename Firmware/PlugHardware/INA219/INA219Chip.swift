/// The registers of the INA219 (data sheet SBOS448G) in addition to the common ones of its family.
enum INA219Constants {
    static let current: UInt8 = 0x04
    /// CONFIG after a reset.
    static let configurationDefault: UInt16 = 0x399F
    /// 32 V, shunt up to ±320 mV, 64 samples each (34 ms), both continuously: one voltage and one current every 68 ms.
    static let configuration: UInt16 = 0x3F77
    /// The calibration for which a step of the current is a step of the shunt's voltage divided by the shunt's
    /// resistance, without rounding: 0.04096 / (10 µV / R · R).
    static let calibration: UInt16 = 4096
    /// The step of the shunt's voltage in volts.
    static let shuntStep = 10e-6
    static let busStep = 4e-3
    /// The steps of the shunt's voltage at ±320 mV.
    static let largestShunt = 32_000.0
    /// Bit 0 of the bus voltage: current and power exceed the range of their registers.
    static let overflow: UInt16 = 1
}

/// Sets up an INA219 and reads it.
struct INA219Chip: MeterChip {
    static let name = "INA219"
    static let addresses = INARegisters.addresses

    private typealias C = INA219Constants

    let shunt: Double
    let isReversed: Bool
    let calibration: Calibration

    func setUp(_ registers: ChipRegisters) throws(MeterFault) -> Bool {
        let manufacturer = try registers.read(INARegisters.manufacturer)
        let die = try registers.read(INARegisters.die)
        if let kind = INARegisters.kind(manufacturer: manufacturer, die: die) {
            throw .wrongChip(
                "not an INA219: it identifies itself as an \(kind.uppercased()): set kind = \"\(kind)\" in [meter]")
        }
        let configuration = try registers.read(INARegisters.configuration)
        let calibration = try registers.read(INARegisters.calibration)
        if configuration == C.configuration, calibration == C.calibration { return true }
        try registers.set(INARegisters.configuration, to: C.configuration, of: Self.name)
        try registers.set(INARegisters.calibration, to: C.calibration, of: Self.name)
        return false
    }

    func read(_ registers: ChipRegisters) throws(MeterFault) -> MeterQuantities {
        let bus = try registers.read(INARegisters.busVoltage)
        let current = try registers.read(C.current).signed
        guard try registers.read(INARegisters.calibration) == C.calibration else { throw .wasReset }
        guard bus & C.overflow == 0, abs(current) < C.largestShunt else {
            throw .impossible("the current is above the chip's range with this shunt")
        }
        return MeterQuantities(
            directCurrent: current * C.shuntStep / shunt, at: Double(bus >> 3) * C.busStep, isReversed, calibration)
    }
}
