import PlugProtocol
import PlugModel
import ProtocolCore

/// Assigns numbers to events. An event whose number is not yet reserved in flash waits, and all later events wait
/// behind it. The answer to a command waits with the event that records it. Parts and states never wait.
extension PlugMachine {
    enum Waiting: Sendable {
        case event(UnnumberedEvent)
        case answer(CommandID, CommandOutcome)
    }

    /// The maximum number of waiting events and answers. Beyond it, the plug skips numbers as if flash had failed, so
    /// that a flash that hangs cannot exhaust the plug's memory. 32 sessions together have at most half this number of
    /// pending commands, and the journal has at most this number of events.
    static let mostWaiting = 4096

    mutating func record(_ kind: PlugEvent.Kind, _ now: Instant, _ step: inout Step) {
        let event = UnnumberedEvent(kind, at: now)
        guard !waiting.isEmpty || numbers.mustWait(nextSequence, now: now) else { return number(event, now, &step) }
        waiting.append(.event(event))
        // If the process is killed now, the next process numbers this event.
        step.records.append(.unnumbered(event))
        if waiting.count > Self.mostWaiting { endWaiting(byLeaping: true, now, &step) }
    }

    mutating func answer(
        _ command: CommandID, _ answer: ApplianceMachine.CommandAnswer, _ now: Instant, _ step: inout Step
    ) {
        switch answer {
        case .done(let state, recorded: true) where !waiting.isEmpty:
            waiting.append(.answer(command, .done(state, event: nil)))
        // The server adds the number of the event that the request caused.
        case .done(let state, recorded: _): conclude(command, .done(state, event: nil), now, &step)
        case .refused(let refusal): conclude(command, .refused(refusal), now, &step)
        }
    }

    /// Numbers the waiting events and sends the waiting answers in order, up to the first that must still wait.
    ///
    /// - Parameter leaps: True to end all waits now. Numbers that flash has not reserved are then skipped.
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

    /// The events that have no number yet, oldest first.
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
        // The mirror records this event before the events that its answers may cause.
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
