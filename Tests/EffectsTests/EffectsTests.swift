import Automation
import Synchronization
import Testing

@testable import Effects

@Suite struct EffectsTests {
    /// Keeps what it gets, and answers as it is told.
    private final class Receiver: NotificationReceiver {
        private let kept = Mutex<[String]>([])
        private let answer: EffectOutcome

        init(_ answer: EffectOutcome = .done) { self.answer = answer }

        var got: [String] { kept.withLock { $0 } }

        func receive(title: String, text: String, of event: EffectEvent) async -> EffectOutcome {
            kept.withLock { $0.append("\(title)|\(text)|\(event.rule)") }
            return answer
        }
    }

    @Test func aNotificationIsToldToEverybody() async {
        #expect(await EffectPerformer().perform(request(.notify(title: "Laundry", text: "done"))) == .done)
        let (one, other) = (Receiver(), Receiver(.failed("no network")))
        let performer = EffectPerformer(receivers: [other, one])
        let outcome = await performer.perform(request(.notify(title: "Laundry", text: "done")))
        #expect(outcome == .failed("no network"))
        #expect(one.got == ["Laundry|done|Laundry \"done\""] && other.got == one.got)
    }

    @Test func whatHappenedIsOneObject() {
        var event = EffectEvent(request(.notify(title: "", text: "")))
        event.at = "2026-11-21T09:01:23.456Z"
        let rest =
            #""id":"\#(String(repeating: "a5", count: 16))","plug":"Washer","rule":"Laundry \"done\"","value":2.5,"#
            + #""why":"Washer fell below 5 W (now 2.5 W)"}"#
        #expect(String(decoding: event.json, as: UTF8.self) == #"{"at":"2026-11-21T09:01:23.456Z","# + rest)
        #expect(String(decoding: event.withoutTime.json, as: UTF8.self) == "{" + rest)
    }

    @Test func whatIsGivenUpBeforeItBeganIsNotBegun() async {
        let receiver = Receiver()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await EffectPerformer(receivers: [receiver]).perform(request(.notify(title: "", text: "")))
        }
        #expect(await task.value == .givenUp && receiver.got.isEmpty)
    }
}
