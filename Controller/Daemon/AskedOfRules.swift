public import Automation
import PlugModel

/// Persons who asked something of running rules and wait for what becomes of it; bounded by the requests that the daemon takes at a time.
struct AskedOfRules {
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

    /// - Parameter storageFault: why what led to the notice is not stored.
    mutating func answer(_ notice: HouseNotice, storageFault: String?) {
        switch notice {
        case .firing(let firing): firings.removeValue(forKey: firing.id)?.resume()
        case .heldBack(let firing, let reason):
            firings.removeValue(forKey: firing.id)?.resume(throwing: HeldBackRun(rule: firing.rule, reason: reason))
        case .ruleEnabled(let rule, let isOn):
            // Each is told once, in the order in which they were asked for.
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

    /// Nothing is told any more.
    mutating func end() {
        for waiting in switches.map(\.waiting) + firings.values { waiting.resume(throwing: CancellationError()) }
        (switches, firings) = ([], [:])
    }
}

/// Somebody ran a rule by hand, and its actions did not begin.
public struct HeldBackRun: Error, Hashable, Sendable, CustomStringConvertible {
    public var rule: String
    public var reason: HoldBack

    public var description: String { "\"\(rule)\" did not begin: \(reason)" }

    public var hint: String {
        switch reason {
        case .running: "wait until it is done, or give the rule `mode: restart`"
        case .condition, .cooldown, .old, .limit, .disabled: "see `plugctl rules explain \"\(rule)\"`"
        }
    }
}

/// A rule was turned off or on, and that could not be stored: it holds until the process ends.
public struct UnstoredSwitch: Error, Hashable, Sendable, CustomStringConvertible {
    public var rule: String
    public var isOn: Bool
    /// In words.
    public var reason: String

    public var description: String { "\"\(rule)\" is turned \(isOn ? "on" : "off"), but that is not stored: \(reason)" }

    public var hint: String { "until it can be stored, a daemon that starts anew has the rule as it was before" }
}
