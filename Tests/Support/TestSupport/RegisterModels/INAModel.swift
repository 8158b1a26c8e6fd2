/// An INA219, INA226 or INA260. Its registers have the values that the data sheet computes from voltage and current.
public struct INAModel: ModelledChip {
    /// The kinds of chips.
    public enum Kind: Hashable, Sendable, CaseIterable { case ina219, ina226, ina260 }

    /// The kind of the chip.
    public let kind: Kind
    /// The shunt resistance in ohms.
    public let shunt: Double
    /// The bus voltage.
    public var volts = 0.0
    /// The current through the shunt.
    public var amperes = 0.0
    /// Registers with a fixed value, independent of the measurement.
    public var stuck: [UInt16: UInt32] = [:]
    private var configuration: UInt32 = 0
    private var calibration: UInt32 = 0

    /// Creates a chip that measures zero. ``ModelledBus`` resets it.
    ///
    /// - Parameter shunt: the resistance of the shunt in ohms. An INA260 has an internal shunt and ignores it.
    public init(_ kind: Kind, shunt: Double = 0.1) {
        self.kind = kind
        self.shunt = shunt
    }

    public let pointerSize = 1

    public func width(of register: UInt16) -> Int { 2 }

    /// The value of CONFIG after power-on.
    public var defaultConfiguration: UInt32 {
        switch kind {
        case .ina219: 0x399F
        case .ina226: 0x4127
        case .ina260: 0x6127
        }
    }

    public mutating func reset() {
        configuration = defaultConfiguration
        calibration = 0
    }

    public mutating func read(_ register: UInt16) -> UInt32 {
        if let value = stuck[register] { return value }
        switch (register, kind) {
        case (0x00, _): return configuration
        case (0x01, .ina260): return word(amperes / 1.25e-3)
        case (0x01, _): return word(Double(shuntSteps))
        case (0x02, _): return busRegister
        case (0x03, _): return UInt32(UInt16(clamping: Int(power)))
        case (0x04, .ina219), (0x04, .ina226): return word(Double(currentSteps))
        case (0x05, .ina219), (0x05, .ina226): return calibration
        case (0xFE, .ina226), (0xFE, .ina260): return 0x5449
        case (0xFF, .ina226): return 0x2260
        case (0xFF, .ina260): return 0x2270
        default: return 0
        }
    }

    public mutating func write(_ value: UInt32, to register: UInt16) {
        switch register {
        // Bits 12 to 14 of CONFIG are fixed in the INA226 and the INA260.
        case 0x00: configuration = kind == .ina219 ? value : value & 0x8FFF | defaultConfiguration & 0x7000
        case 0x05: calibration = kind == .ina219 ? value & 0xFFFE : value & 0x7FFF
        default: break
        }
    }

    /// The current step in amperes. It depends on the calibration register, except for an INA260.
    public var currentStep: Double {
        switch kind {
        case .ina219: 0.04096 / (Double(calibration) * shunt)
        case .ina226: 0.00512 / (Double(calibration) * shunt)
        case .ina260: 1.25e-3
        }
    }

    /// The power step in watts.
    public var powerStep: Double {
        switch kind {
        case .ina219: 20 * currentStep
        case .ina226: 25 * currentStep
        case .ina260: 10e-3
        }
    }

    /// The bus voltage step in volts.
    public var busStep: Double { kind == .ina219 ? 4e-3 : 1.25e-3 }

    private var shuntSteps: Int {
        let step = kind == .ina219 ? 10e-6 : 2.5e-6
        let largest = kind == .ina219 ? 32_000 : 32_767
        return min(max(Int((amperes * shunt / step).rounded()), -largest), largest)
    }

    private var currentSteps: Int { shuntSteps * Int(calibration) / (kind == .ina219 ? 4096 : 2048) }

    private var busSteps: Int { Int((volts / busStep).rounded()) }

    /// The bus voltage register. An INA219 has the voltage in the upper 13 bits, and a bit for a finished conversion.
    private var busRegister: UInt32 {
        kind == .ina219 ? UInt32(busSteps) << 3 | 2 : UInt32(min(busSteps, 0x7FFF))
    }

    /// The value of the power register in steps: the absolute value of the power.
    private var power: Double {
        switch kind {
        case .ina219: (Double(abs(currentSteps) * busSteps) / 5000).rounded(.down)
        case .ina226: (Double(abs(currentSteps) * busSteps) / 20_000).rounded(.down)
        case .ina260: (Double(abs(Int((amperes / 1.25e-3).rounded())) * busSteps) / 6400).rounded(.down)
        }
    }

    private func word(_ steps: Double) -> UInt32 {
        UInt32(UInt16(bitPattern: Int16(min(max(steps.rounded(), -32_768), 32_767))))
    }
}
