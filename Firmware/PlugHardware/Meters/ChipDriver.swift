import Metering
import Synchronization

/// What is particular of a chip: how it is set up, and how its registers become quantities.
protocol MeterChip: Sendable {
    static var name: String { get }
    /// Where it can be on the bus.
    static var addresses: ClosedRange<UInt8> { get }

    /// Checks that it is this chip and writes all settings.
    ///
    /// - Returns: whether it had them already, so that its values are good.
    mutating func setUp(_ registers: ChipRegisters) throws(MeterFault) -> Bool
    /// All quantities but the energy. Throws ``MeterFault/wasReset`` when the settings are gone.
    mutating func read(_ registers: ChipRegisters) throws(MeterFault) -> MeterQuantities
    /// Watt-hours since it was last asked, nil when it cannot say. Asked last, since a register that is cleared by reading
    /// has its value only once.
    mutating func addedEnergy(_ registers: ChipRegisters, _ limits: MeterLimits) throws(MeterFault) -> Double?
}

extension MeterChip {
    mutating func addedEnergy(_ registers: ChipRegisters, _ limits: MeterLimits) throws(MeterFault) -> Double? { nil }
}

/// Keeps a chip set up and turns what it says into measurements: after each fault of the bus, and when the chip has lost its
/// settings, it is set up anew.
final class ChipDriver<Chip: MeterChip>: Sendable {
    private struct State {
        var chip: Chip
        var isSetUp = false
        /// Microwatt-hours that rounding has left over, so that none is lost over the years.
        var energyRest = 0.0
    }

    private let state: Mutex<State>
    /// Apart from the state, which is held while the bus is used.
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
            throw HardwareFault(part: part, reason: "more than can be shown: \(quantities)")
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
                // Now, so that its values are there the next time. Where this fails too, the next time tells why.
                try? setUp(&state)
            case .wrongChip:
                // Also a chip that babbles: what it says of its settings cannot be true.
                counted.withLock { $0.impossible += 1 }
                state.isSetUp = false
            case .settling: break
            }
            throw error
        }
    }

    private func setUp(_ state: inout State) throws(MeterFault) {
        guard Chip.addresses.contains(registers.address) else {
            throw .wrongChip("no \(Chip.name) can have that address: it is \(Self.possibleAddresses)")
        }
        let hadSettings = try state.chip.setUp(registers)
        counted.withLock { $0.initialisations += 1 }
        state.isSetUp = true
        if !hadSettings { throw .settling }
    }

    private func reason(_ fault: MeterFault) -> String {
        guard case .bus(let bus) = fault, bus.reason == .noAcknowledge else { return fault.reason }
        return fault.reason + " (of an \(Chip.name) it is \(Self.possibleAddresses); `i2cdetect` lists who answers)"
    }

    private static var possibleAddresses: String {
        let ends = [Chip.addresses.lowerBound, Chip.addresses.upperBound].map { "0x" + String($0, radix: 16) }
        return ends[0] == ends[1] ? ends[0] : "\(ends[0]) to \(ends[1])"
    }
}
