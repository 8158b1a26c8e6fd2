public import Automation
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
    ///   - storageFault: The reason why the change behind the notice is not stored; nil if it is stored.
    mutating func answer(_ notice: RuleNotice, storageFault: String?) {
        switch notice {
        case .firing(let firing): firings.removeValue(forKey: firing.id)?.resume()
        case .heldBack(let firing, let reason):
            firings.removeValue(forKey: firing.id)?.resume(throwing: HeldBackRun(rule: firing.rule, reason: reason))
        case .ruleEnabled(let rule, let isOn):
            // Requests with the same content are completed in the order in which they were made.
            guard let index = switches.firstIndex(where: { $0.rule == rule && $0.isOn == isOn }) else { return }
            let waiting = switches.remove(at: index).waiting
            guard let storageFault else { return waiting.resume() }
            waiting.resume(throwing: UnstoredSwitch(rule: rule, isOn: isOn, reason: storageFault))
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

/// The error when the user ran a rule manually and its actions did not begin.
public struct HeldBackRun: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rule's name.
    public var rule: String
    /// The reason.
    public var reason: HoldBack

    /// The message for the user, without the hint.
    public var description: String { "\"\(rule)\" did not fire: \(reason)" }

    /// The hint for the user.
    public var hint: String {
        switch reason {
        case .running: "wait until its actions have ended, or set `mode: restart` in the rule"
        case .condition, .cooldown, .old, .limit, .disabled: "see `plugctl rules explain \"\(rule)\"`"
        }
    }
}

/// The error when a rule was turned on or off, but the change could not be stored. The change applies until the process
/// ends.
public struct UnstoredSwitch: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rule's name.
    public var rule: String
    /// True if the rule was turned on.
    public var isOn: Bool
    /// The reason, as text.
    public var reason: String

    /// The message for the user, without the hint.
    public var description: String {
        "\"\(rule)\" is turned \(isOn ? "on" : "off"), but the change cannot be stored: \(reason)"
    }

    /// The hint for the user.
    public var hint: String { "until it can be stored, a restart of the daemon undoes the change" }
}
