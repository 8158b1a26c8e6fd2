import DurableRules
import PlugModel

/// The users' requests to turn a rule on or off, or to run it, whose outcome is pending. The daemon's limit of
/// concurrent requests also limits their number.
struct PendingUserRequests {
    typealias Waiting = CheckedContinuation<Void, any Error>

    private struct Switching {
        let rule: String
        let isOn: Bool
        let waiting: Waiting
    }

    private var switches: [Switching] = []
    private var firings: [RequestID: Waiting] = [:]

    mutating func waitForSwitch(of rule: String, _ isOn: Bool, _ waiting: Waiting) {
        switches.append(Switching(rule: rule, isOn: isOn, waiting: waiting))
    }

    mutating func waitForFiring(_ id: RequestID, _ waiting: Waiting) { firings[id] = waiting }

    /// Completes the requests that the notice decides.
    ///
    /// - Parameters:
    ///   - notice: A notice of the rules.
    ///   - storageFault: The reason why the change that the notice reports is not stored; nil if it is stored.
    mutating func answer(_ notice: RuleNotice, storageFault: String?) {
        switch notice {
        case .firing(let firing): firings.removeValue(forKey: firing.id)?.resume()
        case .heldBack(let firing, let reason):
            firings.removeValue(forKey: firing.id)?
                .resume(throwing: RuleRequestError.heldBack(rule: firing.rule, reason))
        case .ruleEnabled(let rule, let isOn):
            // Requests with the same content are completed in the order in which they were made.
            guard let index = switches.firstIndex(where: { $0.rule == rule && $0.isOn == isOn }) else { return }
            let waiting = switches.remove(at: index).waiting
            guard let storageFault else { return waiting.resume() }
            waiting.resume(throwing: RuleRequestError.notStored(rule: rule, isOn: isOn, reason: storageFault))
        case .following, .lost, .gap, .renamed, .notSent, .nearMiss, .commanded, .performing, .remembered, .step,
            .effect,
            .rulesChanged, .fileBroken, .fileSound, .resumed, .command, .notStored, .storedInReserve, .stored,
            .calling, .called, .scriptLogged, .callFailed, .commandsHeldBack, .timersHeldBack, .scriptEnded,
            .scriptRuns,
            .recordsLeftOut:
            break
        }
    }

    /// Cancels all requests, because no notices will follow.
    mutating func end() {
        for waiting in switches.map(\.waiting) + firings.values { waiting.resume(throwing: CancellationError()) }
        (switches, firings) = ([], [:])
    }
}
