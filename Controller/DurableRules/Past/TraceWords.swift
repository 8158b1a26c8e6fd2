public import Automation
public import PlugModel
import ProtocolCore

extension RuleTrace {
    /// Adds a step. Steps beyond ``stepLimit`` are only counted.
    mutating func add(_ step: Step) {
        guard steps.count < Self.stepLimit else {
            omitted = (omitted ?? 0) + 1
            return
        }
        steps.append(step)
    }

    /// Creates the trace of a near miss.
    ///
    /// - Parameter milliseconds: the time at which the dwell ended, in milliseconds since 1970.
    init(_ miss: NearMiss, at milliseconds: Int64) {
        var hash = FNV1a128()
        hash.add("near miss")
        hash.add(miss.rule)
        hash.add("\(miss.trigger)")
        hash.add(miss.plug)
        hash.add(UInt64(bitPattern: miss.since.nanoseconds))
        let id = hash.bytes.map(\.hexadecimal).joined()
        self.init(id: id, rule: miss.rule, at: milliseconds, outcome: .nearMiss, cause: "\(miss.trigger)")
        plug = miss.plug
        since = milliseconds - miss.lasted.wholeNanoseconds / 1_000_000
        switch miss.end {
        case .wentBack(let watts):
            value = watts.isFinite ? watts : nil
            why = "it held \(miss.lasted.words), then the power was \(watts.decimal) W"
        case .silence: why = "it held \(miss.lasted.words), then the plug sent no readings"
        }
    }
}

extension RunStep {
    var plug: String? {
        switch self {
        case .nothingToRestore(let plug): plug
        case .waiting, .waitingFor, .timedOut, .finished, .cancelled: nil
        }
    }
}

extension HoldBack {
    /// Returns the reason in words, with the remaining time if known.
    func words(of firing: Firing) -> String {
        switch self {
        case .cooldown(let until): "\(self) for \((until - firing.time).words) more"
        case .condition, .old, .running, .limit, .disabled: "\(self)"
        }
    }
}

extension CommandRequest {
    /// For example `turn on Fan for 15 min` or `dim Lamp to 30 % over 2 s`.
    public var words: String {
        switch command {
        case .setRelay(let on, let autoOff):
            "turn \(on ? "on" : "off") \(plug)" + (autoOff.map { " for \($0.words)" } ?? "")
        case .setLevel(let level, let transition):
            "dim \(plug) to \(level.percent.decimal) %" + (transition > .zero ? " over \(transition.words)" : "")
        case .identify: "let \(plug) identify itself"
        case .resetProtection: "reset the protection of \(plug)"
        case .rename(let name): "rename \(plug) to \(name)"
        case .configure: "set up \(plug)"
        }
    }
}

extension EffectRequest.Effect {
    /// For example `notify: Washing: done`, `run beep` or `POST https://host/…`.
    public var words: String {
        switch self {
        case .notify(let title, let text): "notify: " + (title.isEmpty ? text : "\(title): \(text)")
        case .run(let command, _): "run \(command.joined(separator: " "))"
        case .webHook(let hook): hook.words
        case .wake(let machine): "wake \(machine)"
        }
    }
}

extension CommandOutcome {
    /// For example `done` or `lockedOn: the relay is locked on`.
    var words: String {
        switch self {
        case .done: "done"
        case .refused(let refusal): "\(refusal.code.rawValue): \(refusal.detail)"
        }
    }
}

extension EffectOutcome {
    var words: String {
        switch self {
        case .done: "done"
        case .reported(let result): result
        case .failed(let why): "failed: \(why)"
        }
    }
}

extension RequestID {
    /// The id as 32 hexadecimal digits.
    public var hexadecimal: String { bytes.map(\.hexadecimal).joined() }
}

extension UInt8 {
    fileprivate var hexadecimal: String { (self < 16 ? "0" : "") + String(self, radix: 16) }
}
