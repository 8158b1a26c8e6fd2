/// The ADE7953 on a common relay board: 26 000 steps per volt, 100 000 per ampere and 154 per watt.
public struct ADE7953Model: ModelledChip {
    /// The two current inputs of the chip.
    public enum Channel: UInt16, Hashable, Sendable { case a, b }

    /// The input that measures the load's current; the other one measures zero.
    public var channel = Channel.a
    /// The voltage at the voltage input.
    public var volts = 0.0
    /// The current at the current input ``channel``.
    public var amperes = 0.0
    /// The active power; negative power is fed back.
    public var watts = 0.0
    /// The reactive power.
    public var vars = 0.0
    /// The line frequency.
    public var hertz = 50.0
    /// Registers with a fixed value, independent of the measurement.
    public var stuck: [UInt16: UInt32] = [:]

    private var settings: [UInt16: UInt32] = [:]
    /// The energy counter in steps, with its fraction.
    private var energy = 0.0
    private var lastWrite: (register: UInt16, value: UInt32)?
    /// True if 0x30 was written to register 0x120 directly after 0xAD was written to register 0x0FE.
    public private(set) var hasRequiredSetting = false

    /// Creates a chip that measures zero. ``ModelledBus`` resets it.
    public init() {}

    public let pointerSize = 2

    public func width(of register: UInt16) -> Int {
        switch register {
        case 0x100..<0x200: 2
        case 0x200..<0x300: 3
        case 0x300..<0x400: 4
        default: 1
        }
    }

    public mutating func reset() {
        settings = [0x004: 0x40, 0x102: 0x8004, 0x303: 58_393, 0x304: 58_393]
        for gain in Array(0x380...0x384) + Array(0x38C...0x390) { settings[UInt16(gain)] = 0x400000 }
        energy = 0
        hasRequiredSetting = false
    }

    /// Adds the energy of the load during this time. The energy register wraps at 24 bits, like the chip's.
    public mutating func advance(seconds: Double) { energy += watts * 154 / 4_862_401 * 206_900 * seconds }

    /// Adds steps of energy to the energy counter.
    public mutating func addEnergy(steps: Int) { energy += Double(steps) }

    public mutating func read(_ register: UInt16) -> UInt32 {
        // A register 0x2xx is the 24-bit form of the 32-bit register 0x3xx.
        let long = (0x200..<0x300).contains(register) ? register + 0x100 : register
        if let value = stuck[long] { return value }
        let own = channel == .a
        switch long {
        case 0x31C: return steps(volts, 26_000)
        case 0x31A: return steps(own ? amperes : 0, 100_000)
        case 0x31B: return steps(own ? 0 : amperes, 100_000)
        case 0x312: return steps(own ? watts : 0, 154)
        case 0x313: return steps(own ? 0 : watts, 154)
        case 0x314: return steps(own ? vars : 0, 154)
        case 0x315: return steps(own ? 0 : vars, 154)
        case 0x31E: return own ? readEnergy() : 0
        case 0x31F: return own ? 0 : readEnergy()
        case 0x10E: return UInt32((223_750 / hertz - 1).rounded())
        default: return settings[long] ?? 0
        }
    }

    public mutating func write(_ value: UInt32, to register: UInt16) {
        let long = (0x200..<0x300).contains(register) ? register + 0x100 : register
        defer { lastWrite = (long, value) }
        switch long {
        case 0x120:
            guard lastWrite?.register == 0x0FE, lastWrite?.value == 0xAD else { return }
            hasRequiredSetting = value == 0x30
        case 0x303, 0x304:
            // The detection levels can be changed only while the detection is off.
            guard settings[0x001] == 7 else { return }
            settings[long] = value & 0xFF_FFFF
        default: settings[long] = value
        }
    }

    private mutating func readEnergy() -> UInt32 {
        let whole = energy.rounded(.towardZero)
        let clears = settings[0x004, default: 0] & 0x40 != 0
        if clears { energy -= whole }
        // The register has 24 bits: the value wraps, and is extended to 32 bits with its sign.
        let wrapped = (Int32(truncatingIfNeeded: Int64(whole)) << 8) >> 8
        return UInt32(bitPattern: wrapped)
    }

    private func steps(_ value: Double, _ perUnit: Double) -> UInt32 {
        UInt32(bitPattern: Int32((value * perUnit).rounded()))
    }
}
