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
        #expect(
            String(decoding: event.json, as: UTF8.self)
                == #"{"at":"2026-11-21T09:01:23.456Z","id":"\#(String(repeating: "a5", count: 16))","plug":"Washer","#
                + #""rule":"Laundry \"done\"","value":2.5,"why":"Washer fell below 5 W (now 2.5 W)"}"#)
    }

    @Test func soManyRunAtOnceAndOthersWaitForTheirTurn() async {
        let performer = EffectPerformer()
        let count = EffectPerformer.simultaneous + 4
        let time = await elapsed {
            await withTaskGroup(of: EffectOutcome.self) { group in
                for _ in 0..<count { group.addTask { await performer.perform(script("sleep 0.3")) } }
                for await outcome in group { #expect(outcome == .done) }
            }
        }
        #expect(time >= .milliseconds(600))
    }

    @Test func beyondTheQueueNothingIsBegun() async {
        let performer = EffectPerformer()
        let count = EffectPerformer.simultaneous + EffectPerformer.waitingLimit + 5
        let refused = await withTaskGroup(of: EffectOutcome.self) { group in
            for _ in 0..<count { group.addTask { await performer.perform(script("sleep 60")) } }
            var refused = 0
            for await outcome in group {
                if outcome.words.contains("others wait already") { refused += 1 }
                if refused == 5 { group.cancelAll() }
            }
            return refused
        }
        #expect(refused == 5)
        // Nobody holds a place any more.
        #expect(await performer.perform(script("true")) == .done)
    }
}
