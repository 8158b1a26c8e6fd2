import ProtocolCore

/// Sets up an ADE7953 and reads it. All scaling is done here: the chip's gains are set to 1.
struct ADE7953Chip: MeterChip {
    static let name = "ADE7953"
    static let addresses = ADE7953Constants.address...ADE7953Constants.address

    private typealias C = ADE7953Constants

    /// Only every tenth measurement reads the mains period, because the mains frequency changes slowly, over seconds.
    private static let measurementsPerPeriod = 10
    /// The limit of identical measurements, one hour at one per second. The RMS values of a working chip differ in
    /// their last bits; a chip with constant values answers but no longer measures.
    static let sameValuesLimit = 3600

    /// The expected steps of energy above which a constant energy register counts as stopped.
    private static let stillStepsLimit = 100.0

    private let board: ADE7953.Board
    private let calibration: Calibration
    private let clock: @Sendable () -> Instant
    private let channel: ADE7953Constants.Channel

    /// The time at which the values become valid; nil if they were valid immediately.
    private var settled: Instant?
    /// The time of the last reading of the energy register; nil before the first one, whose interval is unknown.
    private var energyRead: Instant?
    /// The steps of active power at the last reading of the energy register and at the latest measurement, as absolute
    /// values.
    private var lastPower = 0.0
    private var power = 0.0
    private var measurements = 0
    private var frequency: Double?
    private var lastValues: [UInt32] = []
    private var sameValues = 0

    init(board: ADE7953.Board, calibration: Calibration, clock: @escaping @Sendable () -> Instant) {
        self.board = board
        self.calibration = calibration
        self.clock = clock
        channel = board.channel == .a ? ADE7953Constants.channelA : ADE7953Constants.channelB
    }

    mutating func setUp(_ registers: ChipRegisters) throws(MeterFault) -> Bool {
        let found = try registers.read(C.config)
        let hadSettings = found == C.configValue
        try registers.write(C.configValue, to: C.config)
        try registers.write(C.unlockValue, to: C.unlock)
        try registers.write(C.requiredValue, to: C.required)
        // The chip accepts new levels only while the detection is off.
        try registers.write(C.noLoadOff, to: C.disableNoLoad)
        try registers.write(C.noLoadLevel, to: C.activeNoLoad)
        try registers.write(C.noLoadLevel, to: C.reactiveNoLoad)
        try registers.write(0, to: C.disableNoLoad)
        try registers.write(C.readClears, to: C.lineCycleMode)
        for gain in channel.gains { try registers.write(C.unityGain, to: gain) }
        try registers.write(Self.phaseCode(microseconds: calibration.phaseDelay), to: channel.phase)
        // The chip has no identification. Only its ability to store written values, in two widths, distinguishes it
        // from others.
        let config = try registers.read(C.config)
        let level = try registers.read(C.activeNoLoad)
        guard config == C.configValue, level == C.noLoadLevel else {
            throw .wrongChip(
                "not an ADE7953: it stores 0x\(String(config, radix: 16)) and \(level) after 0x4 and \(C.noLoadLevel) were "
                    + "written; is it another chip (then set kind in [meter]), or is the wiring too long for the bus?")
        }
        energyRead = nil
        frequency = nil
        measurements = 0
        settled = hadSettings ? nil : clock() + .milliseconds(C.settlingMilliseconds)
        return hadSettings
    }

    mutating func read(_ registers: ChipRegisters) throws(MeterFault) -> MeterQuantities {
        if let settled, clock() < settled { throw .settling }
        let voltage = try registers.read(C.voltageRMS)
        let current = try registers.read(channel.currentRMS)
        let active = try registers.read(channel.activePower)
        let reactive = try registers.read(channel.reactivePower)
        if measurements % Self.measurementsPerPeriod == 0 {
            frequency = C.periodClock / (Double(try registers.read(C.period)) + 1)
        }
        // CONFIG is read last: all previous values were then measured with these settings.
        let config = try registers.read(C.config)
        guard config == C.configValue else {
            throw config == C.configDefault
                ? .wasReset : .wrongChip("its CONFIG register is 0x\(String(config, radix: 16)) instead of 0x4")
        }
        measurements += 1
        try check([voltage, current])
        power = abs(Double(Int32(bitPattern: active)))
        let sign = board.isReversed ? -1.0 : 1.0
        let powers = -C.fullScalePower...C.fullScalePower
        let wattsPerStep = sign * calibration.powerGain / board.stepsPerWatt
        return MeterQuantities(
            activePower: try value(active, powers) * wattsPerStep + calibration.powerOffset,
            voltageRMS: try value(voltage, 0...C.fullScaleRMS) / board.stepsPerVolt * calibration.voltageGain,
            currentRMS: try value(current, 0...C.fullScaleRMS) / board.stepsPerAmpere * calibration.currentGain,
            reactivePower: try value(reactive, powers) * wattsPerStep, frequency: frequency)
    }

    mutating func addedEnergy(_ registers: ChipRegisters, _ limits: MeterLimits) throws(MeterFault) -> Double? {
        let steps = Double(Int32(bitPattern: try registers.read(channel.activeEnergy)))
        let now = clock()
        let last = energyRead
        let expected = min(power, lastPower)
        energyRead = now
        lastPower = power
        guard let last else { return nil }
        let seconds = (now - last).inSeconds
        guard seconds >= 0, seconds <= C.energyRange else { return nil }
        // A step of energy equals this many steps of power during one second.
        let powerPerStep = C.fullScalePower / C.fullScaleEnergyRate
        // A counter that is constant while power flows is not valid.
        guard steps != 0 || expected * seconds < powerPerStep * Self.stillStepsLimit else { return nil }
        let sign = board.isReversed ? -1.0 : 1.0
        let joulesPerStep = powerPerStep / board.stepsPerWatt * calibration.powerGain * sign
        let energy = (steps * joulesPerStep + calibration.powerOffset * seconds) / 3600
        do { return try limits.judged(energy: energy, seconds: seconds) } catch {
            // The register's content was cleared by reading, so the next interval is unknown as well.
            energyRead = nil
            throw error
        }
    }

    private func value(_ raw: UInt32, _ range: ClosedRange<Double>) throws(MeterFault) -> Double {
        let value = Double(Int32(bitPattern: raw))
        guard range.contains(value) else {
            throw .impossible("a register is 0x\(String(raw, radix: 16)), beyond the range of the chip's inputs")
        }
        return value
    }

    private mutating func check(_ values: [UInt32]) throws(MeterFault) {
        sameValues = values == lastValues && values[0] != 0 ? sameValues + 1 : 0
        lastValues = values
        guard sameValues < Self.sameValuesLimit else {
            throw .impossible("the same values \(sameValues) times in a row; the chip seems to have stopped")
        }
    }

    /// Returns the code for PHCALA and PHCALB in sign and magnitude.
    static func phaseCode(microseconds: Double) -> UInt32 {
        let steps = min((abs(microseconds) / C.phaseStep).rounded(), Double(C.phaseSign - 1))
        return UInt32(steps) | (microseconds < 0 && steps > 0 ? C.phaseSign : 0)
    }
}

extension ChipRegisters {
    fileprivate func read(_ register: UInt16) throws(MeterFault) -> UInt32 {
        try read(Self.pointer(register), count: Self.width(register))
    }

    fileprivate func write(_ value: UInt32, to register: UInt16) throws(MeterFault) {
        try write(value, to: Self.pointer(register), count: Self.width(register))
    }

    private static func pointer(_ register: UInt16) -> [UInt8] { [UInt8(register >> 8), UInt8(register & 0xFF)] }

    /// Returns the width of a register in bytes.
    private static func width(_ register: UInt16) -> Int {
        switch register >> 8 {
        case 1: 2
        case 2: 3
        case 3: 4
        default: 1
        }
    }
}
