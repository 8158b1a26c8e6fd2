import Appliance
import PlugModel
import ProtocolCore

/// The writes to flash that hold up no other work of a plug: one at a time, each in its own time, as in `PlugService`. One of
/// each kind may wait behind it, the newest, a boundary first.
struct SimulatedFlash {
    private struct Write {
        let action: PlugMachine.Action
        let asked: Instant
        /// When it ends, and its answer where it stands in flash before that; nil while it has not begun.
        var begun: (end: Instant, answer: PlugMachine.Event??)?
    }

    /// How long a write takes.
    var time = Duration.zero...Duration.zero
    private var writes: [Write] = []
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    var nextDeadline: Instant? { writes.first?.begun?.end }

    /// It answers before the plug does anything else.
    var isImmediate: Bool { time.upperBound == .zero && writes.isEmpty }

    /// A boundary was asked for so long ago that the plug need not wait for it any longer: for two writes of five seconds.
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

    /// Begins the first write, where it has not begun. A power cut before its end finds it in flash or not.
    mutating func begin(now: Instant, perform: (PlugMachine.Action) -> PlugMachine.Event?) {
        guard let write = writes.first, write.begun == nil else { return }
        let end = now + random.duration(in: time)
        writes[0].begun = (end, random.chance(0.5) ? .some(perform(write.action)) : nil)
    }

    /// Ends the first write, where it is due.
    ///
    /// - Returns: true where one ended, with the answer to it; some writes have none.
    mutating func end(
        now: Instant, perform: (PlugMachine.Action) -> PlugMachine.Event?
    ) -> (hasEnded: Bool, answer: PlugMachine.Event?) {
        guard let begun = writes.first?.begun, begun.end <= now else { return (false, nil) }
        let write = writes.removeFirst()
        return (true, begun.answer ?? perform(write.action))
    }

    /// The process is gone, with the writes that had not begun.
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
