import Appliance
import Metering
import PlugModel
import ProtocolCore
import TestSupport

extension FuzzTarget {
    /// Drives an appliance. The first byte selects its settings. Each step has four bytes: the event, the square root
    /// of the delay in milliseconds, and a two-byte number. The relay stays open while a protection locks it and during
    /// its rest time after an opening. Energy never decreases. After each deadline, the next one lies in the future.
    static let appliance = FuzzTarget(
        name: "appliance",
        seeds: {
            [
                [7] + (0..<12).flatMap { [0, 20, 0, UInt8($0 % 2)] as [UInt8] },
                [1, 1, 5, 0, 1, 2, 200, 0xFF, 0xFF, 2, 200, 0xFF, 0xFF, 2, 200, 0xFF, 0xFF, 1, 1, 0, 1, 4, 1, 0, 0],
                [31, 0, 1, 0, 1, 0, 250, 0, 1, 0, 250, 0, 0, 3, 9, 3, 0x84, 3, 9, 3, 0x84, 5, 1, 0, 0, 6, 1, 0, 0],
            ]
        },
        check: { bytes in
            guard let first = bytes.first, bytes.count >= 5 else { return false }
            var life = FuzzedLife(settings: first)
            for step in stride(from: 1, to: min(bytes.count - 3, 2000), by: 4) {
                try life.step(
                    bytes[step], after: bytes[step + 1], UInt16(bytes[step + 2]) << 8 | UInt16(bytes[step + 3]))
            }
            return true
        })
}

/// An appliance, its line and its clock.
private struct FuzzedLife {
    private let configuration: ApplianceConfiguration
    private var machine: ApplianceMachine
    private var now = FuzzedPlug.now
    private var isClosed = false
    private var openedAt = FuzzedPlug.now
    private var energy: UInt64 = 0
    private var requests: UInt8 = 0

    init(settings: UInt8) {
        var configuration = ApplianceConfiguration()
        if settings & 1 != 0 { configuration.rest = .seconds(30) }
        if settings & 2 != 0 { configuration.debounce = .zero }
        if settings & 4 != 0 { configuration.switchingRate = SwitchingRate(count: 3, window: .seconds(60)) }
        if settings & 8 != 0 { configuration.powerOnState = .lockedOn }
        if settings & 16 != 0 { configuration.hasThermometer = true }
        if settings & 32 != 0 { configuration.capabilities.insert(.dimmer) }
        self.configuration = configuration
        machine = ApplianceMachine(configuration)
        for case .part(.setRelay(let on)) in machine.handle(.started(ApplianceMemory(nil)), now: now) { isClosed = on }
    }

    mutating func step(_ kind: UInt8, after delay: UInt8, _ number: UInt16) throws {
        now = now + .milliseconds(Int64(delay) * Int64(delay))
        switch kind % 9 {
        case 0: try feed(.shell(.buttonEdge(down: number & 1 != 0, at: now - .milliseconds(Int64(number >> 4)))))
        case 1: try command(.setRelay(on: number & 1 != 0, autoOff: number < 2 ? nil : .seconds(Int64(number))))
        case 2:
            try feed(
                .shell(.measured(Measurement(deciwatts: Int32(number), decivolts: 2300, milliamperes: UInt32(number)))))
        case 3: try feed(.shell(.temperature(number == 0 ? nil : Int16(bitPattern: number))))
        case 4: try command(.resetProtection)
        case 5: try restart(powerLost: number & 1 != 0)
        case 6: try feed(.shell(.meterFailed))
        case 7:
            try command(.setLevel(DimLevel(permille: Int(number) % 1001)!, transition: .milliseconds(Int64(number))))
        default: try feed(.deadlineReached)
        }
    }

    private mutating func command(_ command: PlugCommand) throws {
        requests &+= 1
        let request = RequestID(bytes: [UInt8](repeating: requests, count: 16))!
        try feed(.command(CommandID(request, of: .desk), controller: "desk", command))
    }

    private mutating func restart(powerLost: Bool) throws {
        var memory = ApplianceMemory(machine.storedState, powerLost: powerLost)
        if powerLost {
            (isClosed, openedAt) = (false, now)
        } else {
            memory.timers = machine.timers
        }
        machine = ApplianceMachine(configuration)
        try feed(.started(memory))
    }

    private mutating func feed(_ event: ApplianceMachine.Event) throws {
        for case .part(.setRelay(let on)) in machine.handle(event, now: now) {
            let rested = now - openedAt >= configuration.rest ?? .zero
            try require(!on || isClosed || rested, "the relay did not rest")
            if isClosed, !on { openedAt = now }
            isClosed = on
        }
        let state = machine.state
        try require(state.relayOn == isClosed, "the line differs from the state")
        try require(state.tripped == nil || !isClosed, "the relay is closed although it is locked")
        try require(machine.storedState.milliwattHours >= energy, "the energy decreased")
        energy = machine.storedState.milliwattHours
        if case .deadlineReached = event, let next = machine.nextDeadline {
            try require(next > now, "the deadline is not in the future")
        }
    }
}
