import Metering
public import PlugModel
import PlugProtocol
import ProtocolCore

/// Passes events to the sessions and carries out their requests.
extension PlugMachine {
    /// True if messages of the session wait, so that the shell should pause reading from its connection.
    public func isReadingPaused(_ id: ConnectionID) -> Bool { server.isReadingPaused(id) }

    mutating func serve(_ event: PlugServer.Event, _ now: Instant, _ step: inout Step) {
        let answers = server.handle(event, now: now)
        noteAnswers(now)
        follow(answers, now, &step)
    }

    /// Carries out the server's actions.
    mutating func follow(_ answers: [PlugServer.Action], _ now: Instant, _ step: inout Step) {
        for action in answers {
            switch action {
            case .shell(let action): step.sends.append(.server(action))
            case .perform(let id, let controller, let command, let deadline):
                guard !command.changesSettings else {
                    change(command, id, deadline: deadline, now, &step)
                    continue
                }
                // The command is carried out in this step, so its deadline cannot pass before that.
                self.step(.command(id, controller: controller, command), now, &step)
            case .fetch(let id, let fetch, let from, let to):
                answer(id, fetch: fetch, from: from, to: to, now, &step)
            case .keep(let controllers): keep(controllers, &step)
            case .keepCode(let code): keep(code, now, &step)
            case .record(let kind): record(kind, now, &step)
            case .factoryReset: askForReset(by: server.resetAsker ?? .unknown, &step)
            case .fetchAudit(let id, let after, let limit): answerAudit(id, after: after, limit: limit, now, &step)
            }
        }
    }

    mutating func keep(_ controllers: PairedControllers, _ step: inout Step) {
        keepsAgainAt = nil
        step.controllers = controllers
    }

    private mutating func answer(
        _ id: ConnectionID, fetch: UInt32, from: Instant, to: Instant, _ now: Instant, _ step: inout Step
    ) {
        let found = samples.chunks(from: from, through: to)
        // The next chunk begins after the last millisecond of this one.
        let next = found.first.map { Instant(nanoseconds: ($0.lastMilliseconds + 1) * 1_000_000) }
        let goesOn = found.count > 1 && next.map { $0 <= to } == true
        serve(.samples(id, fetch: fetch, chunk: found.first?.bytes ?? [], next: goesOn ? next : nil), now, &step)
    }
}
