import Synchronization

/// A relay that keeps its state without power: a pulse on one coil switches it on, a pulse on the other switches it
/// off.
///
/// The driver never energises both coils, and a new pulse ends the previous one. If the process is killed during a
/// pulse, the kernel releases the line: the board's pull-down ends the pulse, and the contact is in its old or new
/// state. The next process pulses it to the desired state. Each coil's driver therefore needs a pull-down, and the
/// service manager must not keep the lines during a crash.
public final class LatchingRelay: Relay {
    /// The number of attempts to end a pulse, one pulse length apart.
    static let tries = 10

    private struct State {
        /// True after both coils were de-energised once; before that their state is unknown.
        var isKnown = false
        var isEnergised = false
        /// The number of the pulse, so that the end of an old pulse does not affect the next one.
        var pulse: UInt64 = 0
        /// The callers that wait for the coils to be at rest.
        var waiting: [CheckedContinuation<Result<Void, HardwareFault>, Never>] = []
    }

    private let on: any OutputLine
    private let off: any OutputLine
    private let pulse: Duration
    private let after: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    /// The lock is held while the lines change.
    private let state = Mutex(State())

    /// Creates the driver. The lines are unchanged until the first call.
    ///
    /// - Parameters:
    ///   - pulse: the pulse length in the relay's data sheet, above zero.
    ///   - after: calls a function once after a delay, on any thread.
    public init(
        on: any OutputLine, off: any OutputLine, pulse: Duration,
        after: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    ) {
        precondition(pulse > .zero, "the pulse length must be above zero")
        self.on = on
        self.off = off
        self.pulse = pulse
        self.after = after
    }

    public func set(on isOn: Bool) throws(HardwareFault) {
        let (number, result) = try state.withLock { state throws(HardwareFault) in
            try rest(&state)
            state.pulse += 1
            // If energising failed, the coil's state is unknown, so it must be de-energised as well.
            state.isEnergised = true
            let coil = isOn ? on : off
            return (state.pulse, Result { () throws(HardwareFault) in try coil.set(active: true) })
        }
        end(number, tries: Self.tries)
        try result.get()
    }

    /// Waits for the end of a pulse. Switches off first unless the contact must keep its state.
    public func release(keeping: Bool) async throws(HardwareFault) {
        if !keeping { try set(on: false) }
        let result = await withCheckedContinuation { waiting in
            let isAtRest = state.withLock { state in
                if state.isEnergised { state.waiting.append(waiting) }
                return !state.isEnergised
            }
            if isAtRest { waiting.resume(returning: .success(())) }
        }
        try result.get()
    }

    /// De-energises both coils.
    private func rest(_ state: inout State) throws(HardwareFault) {
        guard state.isEnergised || !state.isKnown else { return }
        // The second coil is tried even if the first one failed.
        let results = [on, off].map { line in Result { () throws(HardwareFault) in try line.set(active: false) } }
        for result in results { try result.get() }
        state.isKnown = true
        state.isEnergised = false
        tell(&state, .success(()))
    }

    private func end(_ number: UInt64, tries: Int) {
        after(pulse) { [self] in
            let isOver = state.withLock { state in
                guard state.pulse == number else { return true }
                do throws(HardwareFault) {
                    try rest(&state)
                    return true
                } catch {
                    if tries == 1 { tell(&state, .failure(error)) }
                    return false
                }
            }
            if !isOver, tries > 1 { end(number, tries: tries - 1) }
        }
    }

    private func tell(_ state: inout State, _ result: Result<Void, HardwareFault>) {
        for waiting in state.waiting { waiting.resume(returning: result) }
        state.waiting = []
    }
}
