import Metering
import Synchronization

/// The chip-specific part of a meter: its set-up, and the conversion from registers to quantities.
protocol MeterChip: Sendable {
    static var name: String { get }
    /// The possible bus addresses.
    static var addresses: ClosedRange<UInt8> { get }

    /// Checks the chip's type and writes all settings.
    ///
    /// - Returns: true if the settings were already present, so that the values are valid.
    mutating func setUp(_ registers: ChipRegisters) throws(MeterFault) -> Bool
    /// Reads all quantities except the energy. Throws ``MeterFault/wasReset`` if the settings were lost.
    mutating func read(_ registers: ChipRegisters) throws(MeterFault) -> MeterQuantities
    /// Reads the watt-hours since the last call, or returns nil if they are unknown. Called last, because reading may
    /// clear the register.
    mutating func addedEnergy(_ registers: ChipRegisters, _ limits: MeterLimits) throws(MeterFault) -> Double?
}

extension MeterChip {
    mutating func addedEnergy(_ registers: ChipRegisters, _ limits: MeterLimits) throws(MeterFault) -> Double? { nil }
}

/// Keeps a chip set up and converts its values to measurements. After each bus fault, and when the chip has lost its
/// settings, it is set up again.
final class ChipDriver<Chip: MeterChip>: Sendable {
    private struct State {
        var chip: Chip
        var isSetUp = false
        /// The rounding remainder in microwatt-hours, so that no energy is lost over the years.
        var energyRest = 0.0
    }

    private let state: Mutex<State>
    /// The counters. They have their own lock, because the lock of the state is held during bus transfers.
    private let counted = Mutex(MeterCounters())
    private let registers: ChipRegisters
    private let limits: MeterLimits
    private let part: String

    init(_ chip: Chip, bus: any I2CBus, address: UInt8, limits: MeterLimits) {
        state = Mutex(State(chip: chip))
        registers = ChipRegisters(bus: bus, address: address)
        self.limits = limits
        part = "meter \(Chip.name) at 0x" + String(address, radix: 16)
    }

    var counters: MeterCounters { counted.withLock { $0 } }

    func quantities() throws(HardwareFault) -> MeterQuantities {
        try state.withLock { state throws(HardwareFault) in
            do throws(MeterFault) {
                return try attempt(&state)
            } catch {
                throw HardwareFault(part: part, reason: reason(error))
            }
        }
    }

    func measure() throws(HardwareFault) -> Measurement {
        let quantities = try quantities()
        guard var measurement = quantities.measurement else {
            counted.withLock { $0.impossible += 1 }
            throw HardwareFault(part: part, reason: "out of range: \(quantities)")
        }
        measurement.addedMicrowattHours = quantities.addedEnergy.flatMap { energy in
            state.withLock { state in
                let exact = energy * 1e6 + state.energyRest
                state.energyRest = exact - exact.rounded()
                return Int64(exactly: exact.rounded())
            }
        }
        return measurement
    }

    private func attempt(_ state: inout State) throws(MeterFault) -> MeterQuantities {
        do {
            if !state.isSetUp { try setUp(&state) }
            var quantities = try limits.judged(state.chip.read(registers))
            quantities.addedEnergy = try state.chip.addedEnergy(registers, limits)
            return quantities
        } catch {
            switch error {
            case .bus:
                counted.withLock { $0.busFaults += 1 }
                state.isSetUp = false
            case .impossible: counted.withLock { $0.impossible += 1 }
            case .wasReset:
                state.isSetUp = false
                // The chip is set up immediately, so that the next measurement has values. If that fails, the next
                // measurement reports the reason.
                try? setUp(&state)
            case .wrongChip:
                // A chip with random answers is also reported here, because its settings do not match.
                counted.withLock { $0.impossible += 1 }
                state.isSetUp = false
            case .settling: break
            }
            throw error
        }
    }

    private func setUp(_ state: inout State) throws(MeterFault) {
        guard Chip.addresses.contains(registers.address) else {
            throw .wrongChip("an \(Chip.name) cannot have this address; possible: \(Self.possibleAddresses)")
        }
        let hadSettings = try state.chip.setUp(registers)
        counted.withLock { $0.initialisations += 1 }
        state.isSetUp = true
        if !hadSettings { throw .settling }
    }

    private func reason(_ fault: MeterFault) -> String {
        guard case .bus(let bus) = fault, bus.reason == .noAcknowledge else { return fault.reason }
        return fault.reason
            + " (possible for an \(Chip.name): \(Self.possibleAddresses); `i2cdetect` lists the chips that answer)"
    }

    private static var possibleAddresses: String {
        let ends = [Chip.addresses.lowerBound, Chip.addresses.upperBound].map { "0x" + String($0, radix: 16) }
        return ends[0] == ends[1] ? ends[0] : "\(ends[0]) to \(ends[1])"
    }
}
