import Synchronization

/// A relay that stays as it is without power: a pulse on one coil turns it on, one on the other turns it off.
///
/// Never are both coils energised, and a new pulse ends the one before it. A process that is killed in a pulse lets go of the
/// line: the board's pull-down ends the pulse, and the contact is where the pulse was to bring it or where it was. The next process
/// pulses it to where it is to be. So each coil's driver needs a pull-down, and its lines are never kept over a crash.
public final class LatchingRelay: Relay {
    /// How often the end of a pulse is tried again that failed, one pulse apart.
    static let tries = 10

    private struct State {
        /// Both coils were brought to rest once. Before that nothing is known of them.
        var isKnown = false
        var isEnergised = false
        /// Counts the pulses, so that the end of one that is over does nothing to the next.
        var pulse: UInt64 = 0
        /// Wait for the coils to come to rest.
        var waiting: [CheckedContinuation<Result<Void, HardwareFault>, Never>] = []
    }

    private let on: any OutputLine
    private let off: any OutputLine
    private let pulse: Duration
    private let after: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    /// Held while the lines are moved.
    private let state = Mutex(State())

    /// Leaves the lines as they are until the first call.
    ///
    /// - Parameters:
    ///   - pulse: how long a coil is energised, as the relay's maker says; above zero.
    ///   - after: calls a function once after a while, on any thread, never before it returns.
    public init(
        on: any OutputLine, off: any OutputLine, pulse: Duration,
        after: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    ) {
        precondition(pulse > .zero, "a coil that is energised for no time moves nothing")
        self.on = on
        self.off = off
        self.pulse = pulse
        self.after = after
    }

    public func set(on isOn: Bool) throws(HardwareFault) {
        let (number, result) = try state.withLock { state throws(HardwareFault) in
            try rest(&state)
            state.pulse += 1
            // A coil that could not be energised is one of which nothing is known: it has to be brought to rest too.
            state.isEnergised = true
            let coil = isOn ? on : off
            return (state.pulse, Result { () throws(HardwareFault) in try coil.set(active: true) })
        }
        end(number, tries: Self.tries)
        try result.get()
    }

    /// Lets a pulse come to its end, after one that turns off unless the contact is to stay.
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

    /// No coil is energised afterwards.
    private func rest(_ state: inout State) throws(HardwareFault) {
        guard state.isEnergised || !state.isKnown else { return }
        // The second is tried whatever became of the first.
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
