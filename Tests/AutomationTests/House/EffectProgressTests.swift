import PlugModel
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

@Suite struct EffectProgressTests {
    @Test("A repeated request of an effect is recognized, and the end of an effect returns its last state")
    func states() {
        var effects = EffectProgress()
        let (first, second) = (RequestID(1), RequestID(2))
        let isNew = [effects.request(first), effects.request(first), effects.request(second)]
        effects.begin(first)
        #expect(isNew == [true, false, true])
        let states = [effects.end(first), effects.end(second), effects.end(first)]
        #expect(states == [.begun, .requested, .unknown])
    }

    @Test("`begin` is ignored for an effect that was not requested")
    func unknown() {
        var effects = EffectProgress()
        effects.begin(RequestID(1))
        let isNew = effects.request(RequestID(1))
        #expect(isNew)
        #expect(effects.end(RequestID(1)) == .requested)
    }
}
