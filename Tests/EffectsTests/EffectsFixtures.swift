import Automation
import LinuxSystem
import PlugModel
import RuleModel

@testable import Effects

let effectID = RequestID(bytes: [UInt8](repeating: 0xA5, count: 16))!

func request(_ effect: EffectRequest.Effect) -> EffectRequest {
    let cause = Firing.Cause(
        .trigger(.activePower(plug: "Washer", PowerThreshold(.fallsBelow, watts: 5))), plug: "Washer", value: 2.5)
    let firing = Firing(id: effectID, rule: "Laundry \"done\"", cause: cause, time: BootClock.now)
    return EffectRequest(id: effectID, effect: effect, firing: firing)
}

/// Returns the request of a rule to run this shell script.
func script(_ text: String, timeout: Duration = .seconds(20)) -> EffectRequest {
    request(.run(["sh", "-c", text], timeout: timeout))
}

extension EffectOutcome {
    /// The message of a failure or a report; empty if the effect was done.
    var words: String {
        switch self {
        case .done: ""
        case .failed(let words), .reported(let words): words
        }
    }
}

extension EffectOutcome? {
    /// The message of a failure; also empty if the effect was cancelled.
    var words: String { self?.words ?? "" }
}
