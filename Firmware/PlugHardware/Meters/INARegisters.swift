/// The common registers of INA219, INA226 and INA260: 8-bit register addresses, 16-bit values.
enum INARegisters {
    /// The addresses, selected with two pins.
    static let addresses: ClosedRange<UInt8> = 0x40...0x4F

    static let configuration: UInt8 = 0x00
    static let busVoltage: UInt8 = 0x02
    static let calibration: UInt8 = 0x05
    static let manufacturer: UInt8 = 0xFE
    static let die: UInt8 = 0xFF

    static let texasInstruments: UInt16 = 0x5449
    /// The mask of the die's identification; the other four bits are its revision.
    static let dieMask: UInt16 = 0xFFF0
    static let ina226Die: UInt16 = 0x2260
    static let ina260Die: UInt16 = 0x2270

    /// Returns the chip with these identification registers, as `kind` in [meter] names it, or nil if it is unknown.
    static func kind(manufacturer: UInt16, die: UInt16) -> String? {
        guard manufacturer == texasInstruments else { return nil }
        switch die & dieMask {
        case ina226Die: return "ina226"
        case ina260Die: return "ina260"
        default: return nil
        }
    }
}

extension ChipRegisters {
    func read(_ register: UInt8) throws(MeterFault) -> UInt16 {
        UInt16(truncatingIfNeeded: try read([register], count: 2))
    }

    func write(_ value: UInt16, to register: UInt8) throws(MeterFault) {
        try write(UInt32(value), to: [register], count: 2)
    }

    /// Throws unless the identification registers match the kind.
    func identify(as expected: String, die: UInt16) throws(MeterFault) {
        let manufacturer = try read(INARegisters.manufacturer)
        let found = try read(INARegisters.die)
        let kind = INARegisters.kind(manufacturer: manufacturer, die: found)
        guard kind != expected else { return }
        let wanted = "0x\(String(INARegisters.texasInstruments, radix: 16)) 0x\(String(die, radix: 16))"
        let seen = "0x\(String(manufacturer, radix: 16)) 0x\(String(found, radix: 16))"
        let advice = kind.map { "it is an \($0.uppercased()): set kind = \"\($0)\" in [meter]" }
        throw .wrongChip(
            "an \(expected.uppercased()) identifies itself as \(wanted), this chip as \(seen); "
                + (advice ?? "is it another chip (an INA219 has no identification), or another address?"))
    }

    /// Writes a setting and verifies it by reading.
    func set(_ register: UInt8, to value: UInt16, of chip: String) throws(MeterFault) {
        try write(value, to: register)
        let kept = try read(register)
        guard kept == value else {
            throw .wrongChip(
                "not an \(chip): register 0x\(String(register, radix: 16)) has 0x\(String(kept, radix: 16)) after "
                    + "0x\(String(value, radix: 16)) was written to it; is it another chip?")
        }
    }
}

extension UInt16 {
    /// The value in two's complement.
    var signed: Double { Double(Int16(bitPattern: self)) }
}

extension MeterQuantities {
    /// Creates the quantities of a direct current. The power is computed from calibrated values, because the chips'
    /// power registers are coarser and have no sign.
    init(directCurrent amperes: Double, at volts: Double, _ isReversed: Bool, _ calibration: Calibration) {
        let current = amperes * calibration.currentGain * (isReversed ? -1 : 1)
        let voltage = volts * calibration.voltageGain
        self.init(
            activePower: current * voltage + calibration.powerOffset, voltageRMS: voltage, currentRMS: current)
    }
}
