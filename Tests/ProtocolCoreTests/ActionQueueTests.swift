import ProtocolCore
import Testing

@Suite("The order of actions")
struct ActionQueueTests {
    @Test("Actions that an action causes are performed after all earlier actions")
    func nested() {
        let queue = ActionQueue<String>()
        var done: [String] = []
        func perform(_ action: String) {
            done.append(action)
            switch action {
            case "measure": queue.perform(["send reading", "light"], by: perform)
            case "light": queue.perform(["blink"], by: perform)
            case _: break
            }
        }
        queue.perform(["measure", "send event", "close"], by: perform)
        #expect(done == ["measure", "send event", "close", "send reading", "light", "blink"])
    }

    @Test("A nested call returns before its actions are performed, and the outer call performs them")
    func returns() {
        let queue = ActionQueue<Int>()
        var done: [Int] = []
        var doneWhenReturned: [Int] = []
        queue.perform([1, 2]) { action in
            done.append(action)
            guard action == 1 else { return }
            queue.perform([3]) { _ in Issue.record("the nested call performed the action") }
            doneWhenReturned = done
        }
        #expect(doneWhenReturned == [1])
        #expect(done == [1, 2, 3])
        queue.perform([4]) { done.append($0) }
        #expect(done == [1, 2, 3, 4])
    }

    @Test("A chain of 100,000 actions does not grow the stack")
    func chain() {
        let queue = ActionQueue<Int>()
        var last = 0
        func perform(_ action: Int) {
            last = action
            if action < 100_000 { queue.perform([action + 1], by: perform) }
        }
        queue.perform([1], by: perform)
        #expect(last == 100_000)
    }
}
