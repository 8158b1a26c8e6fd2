import Testing

@testable import Effects

@Suite("Effects") struct EffectsTests {
    @Test("An event is one JSON object with sorted keys, and its time can be left out") func whatHappenedIsOneObject() {
        var event = EffectEvent(request(.notify(title: "", text: "")))
        event.at = "2026-11-21T09:01:23.456Z"
        let rest =
            #""id":"\#(String(repeating: "a5", count: 16))","plug":"Washer","rule":"Laundry \"done\"","value":2.5,"#
            + #""why":"Washer fell below 5 W (now 2.5 W)"}"#
        #expect(String(decoding: event.json, as: UTF8.self) == #"{"at":"2026-11-21T09:01:23.456Z","# + rest)
        #expect(String(decoding: event.withoutTime.json, as: UTF8.self) == "{" + rest)
    }

    @Test("An effect whose task was cancelled before its start is not started")
    func whatIsGivenUpBeforeItBeganIsNotBegun() async {
        let receiver = ScriptedReceiver()
        let performer = EffectPerformer(receivers: [receiver.named("one")])
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await performer.perform(request(.notify(title: "", text: "")))
        }
        #expect(await task.value == nil && receiver.got.isEmpty)
    }
}
