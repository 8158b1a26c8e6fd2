public import PlugHardware
import ProtocolCore
import Synchronization

/// A chip as its data sheet describes it: registers with addresses, widths and side effects. The models are independent
/// of the drivers.
public protocol ModelledChip: Sendable {
    /// The size of a register address on the bus, in bytes.
    var pointerSize: Int { get }
    /// Returns the size of a register in bytes.
    func width(of register: UInt16) -> Int
    /// Sets all registers to their values after power-on.
    mutating func reset()
    /// Returns the value of a register, with the side effects of a read. Unknown registers are zero.
    mutating func read(_ register: UInt16) -> UInt32
    /// Writes a register, with the side effects of a write.
    mutating func write(_ value: UInt32, to register: UInt16)
}

/// A fault of one transfer.
public enum TransferFault: Hashable, Sendable, CaseIterable {
    /// No chip acknowledges the address.
    case noAcknowledge
    /// A line is held low until the time limit.
    case timedOut
    /// The chip does not pull the data line down, so all bits are ones.
    case ones
    /// A line is held low and the adapter does not detect it, so all bits are zeros.
    case zeros
    /// The chip's bytes are replaced by random ones.
    case corrupt
    /// The answer has one byte less than requested.
    case short
    /// The chip is reset just before the transfer.
    case reset
}

/// A bus with one modelled chip, whose transfers can be made to fail.
public final class ModelledBus<Chip: ModelledChip>: I2CBus {
    private struct State {
        var chip: Chip
        var pointer: UInt16 = 0
        var transfers = 0
        var writes: [RegisterWrite] = []
        var isPresent = true
        var faults: [Int: TransferFault] = [:]
        var standing: TransferFault?
        var random = SeededRandom(seed: 1)
    }

    private let state: Mutex<State>
    private let address: UInt8

    /// Creates a bus with this chip, freshly powered, at this address.
    public init(_ chip: Chip, at address: UInt8) {
        self.address = address
        var chip = chip
        chip.reset()
        state = Mutex(State(chip: chip))
    }

    /// The number of transfers so far, including failed ones.
    public var transfers: Int { state.withLock { $0.transfers } }
    /// All register writes so far, in order.
    public var writes: [RegisterWrite] { state.withLock { $0.writes } }

    /// Reads the chip, or changes its inputs.
    public func withChip<Result: Sendable>(_ body: (inout Chip) -> Result) -> Result {
        state.withLock { body(&$0.chip) }
    }

    /// Removes the chip from the bus, or connects it again, freshly powered.
    public func setPresent(_ isPresent: Bool) {
        state.withLock { state in
            if isPresent, !state.isPresent { state.chip.reset() }
            state.isPresent = isPresent
        }
    }

    /// Makes one transfer fail.
    ///
    /// - Parameter index: 0 is the next transfer.
    public func fail(_ index: Int = 0, with fault: TransferFault) {
        state.withLock { $0.faults[$0.transfers + index] = fault }
    }

    /// Applies this fault to every further transfer; nil ends the faults. The seed determines the bytes of
    /// ``TransferFault/corrupt``.
    public func failAll(with fault: TransferFault?, seed: UInt64 = 1) {
        state.withLock {
            $0.standing = fault
            $0.random = SeededRandom(seed: seed)
        }
    }

    public func transfer(to address: UInt8, write bytes: [UInt8], read count: Int) throws(BusFault) -> [UInt8] {
        let result = state.withLock { state -> Result<[UInt8], BusFault> in
            let fault = state.faults[state.transfers] ?? state.standing
            state.transfers += 1
            guard state.isPresent, address == self.address, fault != .noAcknowledge else {
                return .failure(BusFault(.noAcknowledge, address: address))
            }
            guard fault != .timedOut else { return .failure(BusFault(.timedOut, address: address)) }
            if fault == .reset { state.chip.reset() }
            let answer = Self.perform(&state, bytes, count)
            switch fault {
            case .ones: return .success(answer.map { _ in 0xFF })
            case .zeros: return .success(answer.map { _ in 0 })
            case .corrupt: return .success(answer.map { _ in UInt8.random(in: 0...255, using: &state.random) })
            case .short: return .success(Array(answer.dropLast()))
            case .noAcknowledge, .timedOut, .reset, nil: return .success(answer)
            }
        }
        return try result.get()
    }

    private static func perform(_ state: inout State, _ bytes: [UInt8], _ count: Int) -> [UInt8] {
        let size = state.chip.pointerSize
        if bytes.count >= size { state.pointer = UInt16(bytes.prefix(size).number) }
        let register = state.pointer
        let width = state.chip.width(of: register)
        if bytes.count > size {
            // A chip accepts exactly the bytes of the register.
            precondition(bytes.count == size + width, "register \(register) has \(width) bytes")
            let value = bytes.dropFirst(size).number
            state.writes.append(RegisterWrite(register: register, value: value))
            state.chip.write(value, to: register)
        }
        guard count > 0 else { return [] }
        let value = state.chip.read(register)
        let answer = (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
        return (0..<count).map { $0 < width ? answer[$0] : 0xFF }
    }
}

/// A write of a value to a register.
public struct RegisterWrite: Hashable, Sendable, CustomStringConvertible {
    /// The address of the register.
    public var register: UInt16
    /// The written value.
    public var value: UInt32

    /// Creates a write of a value to a register.
    public init(register: UInt16, value: UInt32) {
        self.register = register
        self.value = value
    }

    public var description: String { "0x\(String(register, radix: 16)) <- 0x\(String(value, radix: 16))" }
}

extension Sequence<UInt8> {
    /// The number with these bytes, the most significant byte first.
    fileprivate var number: UInt32 { reduce(0) { $0 << 8 | UInt32($1) } }
}
