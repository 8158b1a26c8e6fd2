import PlugProtocol
import PlugModel
import ProtocolCore

/// Events and their numbers: an event that may not use its number yet waits for flash, and all that happen after it. The answer
/// to a command waits with the event that records it. Parts and states wait for nothing.
extension PlugMachine {
    enum Waiting: Sendable {
        case event(UnnumberedEvent)
        case answer(CommandID, CommandOutcome)
    }

    /// Events and answers that wait at most; one more, and the plug leaps as if flash had failed. It stops a flash that hangs from
    /// taking the plug's memory. The commands that 32 sessions may have under way make less than half of it, and the journal keeps
    /// no more events either.
    static let mostWaiting = 4096

    mutating func record(_ kind: PlugEvent.Kind, _ now: Instant, _ step: inout Step) {
        let event = UnnumberedEvent(kind, at: now)
        guard !waiting.isEmpty || numbers.mustWait(nextSequence, now: now) else { return number(event, now, &step) }
        waiting.append(.event(event))
        // A process that is killed now leaves it to the next one.
        step.records.append(.unnumbered(event))
        if waiting.count > Self.mostWaiting { endWaiting(byLeaping: true, now, &step) }
    }

    mutating func answer(
        _ command: CommandID, _ answer: ApplianceMachine.CommandAnswer, _ now: Instant, _ step: inout Step
    ) {
        switch answer {
        case .done(let state, recorded: true) where !waiting.isEmpty:
            waiting.append(.answer(command, .done(state, event: nil)))
        // The server fills in the number of the event that the request caused.
        case .done(let state, recorded: _): conclude(command, .done(state, event: nil), now, &step)
        case .refused(let refusal): conclude(command, .refused(refusal), now, &step)
        }
    }

    /// Numbers and tells what waits, in its order, as far as it does not have to wait any longer.
    ///
    /// - Parameter leaps: nothing is waited for: the numbers leap where no boundary covers them.
    mutating func endWaiting(byLeaping leaps: Bool = false, _ now: Instant, _ step: inout Step) {
        while let first = waiting.first {
            switch first {
            case .event(let event):
                guard leaps || !numbers.mustWait(nextSequence, now: now) else { return }
                waiting.removeFirst()
                number(event, now, &step)
            case .answer(let command, let outcome):
                waiting.removeFirst()
                conclude(command, outcome, now, &step)
            }
        }
    }

    /// Those that happened and have no number yet, oldest first.
    var unnumbered: [UnnumberedEvent] {
        waiting.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    private mutating func number(_ event: UnnumberedEvent, _ now: Instant, _ step: inout Step) {
        if let number = numbers.leap(from: nextSequence, using: &random) {
            step.records.append(.leap(to: number))
            serve(.leap(to: number), now, &step)
        }
        let number = nextSequence
        let answers = server.handle(.record(event.kind, at: event.time), now: now)
        // The mirror has it before the events that may come of the answers.
        if let event = server.journal[number] { step.records.append(.event(event)) }
        follow(answers, now, &step)
    }

    private mutating func conclude(
        _ command: CommandID, _ outcome: CommandOutcome, _ now: Instant, _ step: inout Step
    ) {
        serve(.commandOutcome(command, outcome), now, &step)
        remember(command, &step)
    }
}
