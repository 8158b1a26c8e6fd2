import Automation
import Testing

@testable import Effects

@Suite("Delivery of notifications") struct NotificationDeskTests {
    private func performer(_ receivers: NamedReceiver...) -> EffectPerformer {
        var limits = NotificationQueue.Limits()
        limits.pauses = [.milliseconds(1)]
        return EffectPerformer(receivers: receivers, limits: limits)
    }

    private func notify(_ text: String = "done") -> EffectRequest { request(.notify(title: "Laundry", text: text)) }

    @Test("A notification is sent to all receivers, and a failure names its receiver")
    func aNotificationIsToldToEverybody() async {
        #expect(await EffectPerformer().perform(notify()) == .done)
        let (one, other) = (ScriptedReceiver(), ScriptedReceiver(.fail("no such topic", again: false)))
        let outcome = await performer(other.named("phone"), one.named("desk")).perform(notify())
        #expect(outcome == .failed("phone: no such topic"))
        #expect(one.texts == ["done"] && other.texts == ["done"])
        #expect(one.got.first?.title == "Laundry" && one.got.first?.event.rule == "Laundry \"done\"")
    }

    @Test("A receiver that succeeded is not retried when another fails")
    func whoHasItGetsItNoSecondTimeForTheFailureOfAnother() async {
        let desk = ScriptedReceiver()
        let phone = ScriptedReceiver(.fail("busy", again: true), .fail("busy", again: true), .take)
        #expect(await performer(desk.named("desk"), phone.named("phone")).perform(notify()) == .done)
        #expect(desk.texts == ["done"] && phone.texts == ["done", "done", "done"])
    }

    @Test("A receiver that hangs does not block the others") func oneThatHangsHoldsUpNoOther() async {
        let (stuck, desk) = (ScriptedReceiver(.hang), ScriptedReceiver())
        let performer = performer(stuck.named("stuck"), desk.named("desk", perMinute: 600))
        let tasks = (0..<20).map { number in Task { await performer.perform(notify("\(number)")) } }
        while desk.got.count < 20 { await Task.yield() }
        #expect(stuck.got.count == 1, "a second attempt began while the first one hung")
        for task in tasks { task.cancel() }
        for task in tasks {
            // Half of the notifications exceed the limit of the receiver that hangs.
            let outcome = await task.value
            let words = outcome.words
            #expect(words == "stuck: cancelled: the controller is stopping" || words.hasPrefix("stuck: dropped"))
        }
        #expect(stuck.mostAtOnce == 1)
    }

    @Test("A cancelled notification is reported as failed if a receiver has it, and otherwise has no outcome")
    func whatOneHasWhenItIsCutShortIsNotDoneAgain() async {
        let (phone, desk) = (ScriptedReceiver(.hang), ScriptedReceiver())
        let half = performer(phone.named("phone"), desk.named("desk"))
        let task = Task { await half.perform(notify()) }
        while desk.got.isEmpty || phone.got.isEmpty { await Task.yield() }
        // Gives the desk time to answer before the cancellation.
        try? await Task.sleep(for: .milliseconds(50))
        task.cancel()
        #expect(await task.value == .failed("phone: cancelled: the controller is stopping"))
        let stuck = ScriptedReceiver(.hang)
        let none = performer(stuck.named("stuck"), ScriptedReceiver(.fail("no", again: false)).named("other"))
        let other = Task { await none.perform(notify()) }
        while stuck.got.isEmpty { await Task.yield() }
        other.cancel()
        #expect(await other.value == nil, "no receiver has the notification, so the next process must send it")
    }

    @Test("A notification reports how many earlier ones were dropped")
    func theFirstAfterThePauseSaysHowManyWereLeftOut() {
        let event = EffectEvent(notify())
        let one = RuleNotification(title: "", text: "done", event: event)
        #expect(one.after(leavingOut: 0) == one)
        #expect(one.after(leavingOut: 1).text == "done\n(1 earlier notification was dropped)")
        #expect(one.after(leavingOut: 12).text == "done\n(12 earlier notifications were dropped)")
    }

    @Test("A notification beyond the limit per minute fails with the reason") func whatIsBeyondTheLimitIsTold() async {
        let phone = ScriptedReceiver()
        let performer = performer(phone.named("phone", perMinute: 2))
        for _ in 0..<2 { #expect(await performer.perform(notify()) == .done) }
        #expect(await performer.perform(notify()) == .failed("phone: dropped: more than 2 within a minute"))
        #expect(phone.got.count == 2)
    }

    @Test("Settings that cannot be read make every notification fail")
    func settingsThatCannotBeReadLetNobodyBelieveThatItWasTold() async {
        let outcome = await performer(.unreadable("the settings", "line 3 is wrong")).perform(notify())
        #expect(outcome == .failed("the settings: line 3 is wrong"))
    }

    @Test("A headline is one line without control characters") func aTitleStaysOnItsLine() {
        let event = EffectEvent(notify())
        let title = "Tea\r\nBcc: x@example.org\u{2028}\u{7}" + String(repeating: "y", count: 300)
        let headline = RuleNotification(title: title, text: "", event: event).headline
        #expect(headline.hasPrefix("Tea  Bcc: x@example.org  yyy") && headline.unicodeScalars.count == 200)
    }
}
