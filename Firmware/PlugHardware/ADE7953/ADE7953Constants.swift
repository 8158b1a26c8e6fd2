/// The registers of the ADE7953 in its data sheet (revision B). The address determines a register's width: 0x0xx 8
/// bits, 0x1xx 16, 0x3xx 32, which contain 24 bits with sign extension.
enum ADE7953Constants {
    static let address: UInt8 = 0x38

    static let disableNoLoad: UInt16 = 0x001
    static let lineCycleMode: UInt16 = 0x004
    static let unlock: UInt16 = 0x0FE
    static let config: UInt16 = 0x102
    static let period: UInt16 = 0x10E
    static let required: UInt16 = 0x120
    static let activeNoLoad: UInt16 = 0x303
    static let reactiveNoLoad: UInt16 = 0x304
    static let voltageRMS: UInt16 = 0x31C

    /// CONFIG after a reset.
    static let configDefault: UInt32 = 0x8004
    /// High-pass filter on; clearing bit 15 locks the chip to I²C.
    static let configValue: UInt32 = 0x0004
    static let unlockValue: UInt32 = 0xAD
    static let requiredValue: UInt32 = 0x0030
    static let noLoadOff: UInt32 = 7
    /// The no-load level, a 50 000th of full scale.
    static let noLoadLevel: UInt32 = 29_196
    /// Bit 6: reading clears the energy registers.
    static let readClears: UInt32 = 0x40
    /// A gain of 1.
    static let unityGain: UInt32 = 0x400000

    static let fullScaleRMS = 9_032_007.0
    static let fullScalePower = 4_862_401.0
    /// The steps of an energy register per second at full scale.
    static let fullScaleEnergyRate = 206_900.0
    /// The seconds that an energy register (23 bits and a sign) can certainly cover; at full scale it overflows after
    /// 40.5 s.
    static let energyRange = 40.0
    static let periodClock = 223_750.0
    /// The step of PHCALA and PHCALB in microseconds.
    static let phaseStep = 1.117
    /// The sign of PHCALA and PHCALB, above nine bits of magnitude.
    static let phaseSign: UInt32 = 0x200

    /// The settling time of the RMS filters in milliseconds.
    static let settlingMilliseconds = 200

    /// The registers of one of the two current channels.
    struct Channel: Hashable, Sendable {
        var currentRMS: UInt16
        var activePower: UInt16
        var reactivePower: UInt16
        var activeEnergy: UInt16
        var phase: UInt16
        /// All gains except BVGAIN (0x38D), which must not be changed.
        var gains: [UInt16]
    }

    static let channelA = Channel(
        currentRMS: 0x31A, activePower: 0x312, reactivePower: 0x314, activeEnergy: 0x31E, phase: 0x108,
        gains: [0x380, 0x381, 0x382, 0x383, 0x384])
    /// Channel B, which shares the voltage gain of channel A.
    static let channelB = Channel(
        currentRMS: 0x31B, activePower: 0x313, reactivePower: 0x315, activeEnergy: 0x31F, phase: 0x109,
        gains: [0x381, 0x38C, 0x38E, 0x38F, 0x390])
}
