import Appliance
import PlugModel
import ProtocolCore

/// The flash writes that do not block other work of a plug, as in `PlugService`. One write at a time is performed, with
/// a random duration. Meanwhile only the newest write of each kind waits, and a boundary is written before the others.
struct SimulatedFlash {
    private struct Write {
        let action: PlugMachine.Action
        let asked: Instant
        /// The end of the write, and its answer if the data reaches flash before that; nil before the write begins.
        var begun: (end: Instant, answer: PlugMachine.Event??)?
    }

    /// The range of write durations.
    var time = Duration.zero...Duration.zero
    private var writes: [Write] = []
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    var nextDeadline: Instant? { writes.first?.begun?.end }

    /// True if a write ends before the plug does anything else.
    var isImmediate: Bool { time.upperBound == .zero && writes.isEmpty }

    /// Returns true if a boundary was requested at least 10 s ago, the time of two writes of 5 s. The plug then need
    /// not wait for the boundary any longer.
    func isLate(at now: Instant) -> Bool {
        writes.contains { $0.action.isReservation && now - $0.asked >= .seconds(10) }
    }

    mutating func add(_ action: PlugMachine.Action, now: Instant) {
        if let index = writes.dropFirst().firstIndex(where: { $0.action.isSameKind(as: action) }) {
            writes.remove(at: index)
        }
        let isFirst = action.isReservation && !writes.isEmpty
        writes.insert(Write(action: action, asked: now), at: isFirst ? 1 : writes.count)
    }

    /// Begins the first write if it has not begun. At random its data reaches flash now or only at its end. After a
    /// power cut during the write, flash therefore has the new or the old data.
    mutating func begin(now: Instant, perform: (PlugMachine.Action) -> PlugMachine.Event?) {
        guard let write = writes.first, write.begun == nil else { return }
        let end = now + random.duration(in: time)
        writes[0].begun = (end, random.chance(0.5) ? .some(perform(write.action)) : nil)
    }

    /// Ends the first write if it is due.
    ///
    /// - Returns: true if a write ended, with its answer; some writes have no answer.
    mutating func end(
        now: Instant, perform: (PlugMachine.Action) -> PlugMachine.Event?
    ) -> (hasEnded: Bool, answer: PlugMachine.Event?) {
        guard let begun = writes.first?.begun, begun.end <= now else { return (false, nil) }
        let write = writes.removeFirst()
        return (true, begun.answer ?? perform(write.action))
    }

    /// Drops all writes, as the end of the process does.
    mutating func forget() { writes = [] }
}

extension PlugMachine.Action {
    var isReservation: Bool { if case .reserve = self { true } else { false } }

    fileprivate func isSameKind(as other: PlugMachine.Action) -> Bool {
        switch (self, other) {
        case (.reserve, .reserve), (.persist, .persist), (.keepSettings, .keepSettings), (.keepAudit, .keepAudit),
            (.keepCode, .keepCode):
            true
        default: false
        }
    }
}
