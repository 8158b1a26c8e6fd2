import Automation
import PlugModel
import ProtocolCore
import RuleModel
import Testing

@testable import Daemon

@Suite("Queue of effects")
struct EffectQueueTests {
    private static let program = EffectRequest.Effect.run(["sleep"], timeout: .seconds(30))
    private static let notify = EffectRequest.Effect.notify(title: "Hall", text: "pressed")
    private static let hook = EffectRequest.Effect.webHook(WebHook(url: "https://host/path"))

    private func request(_ effect: EffectRequest.Effect, _ random: inout SeededRandom) -> EffectRequest {
        let firing = Firing(
            id: RequestID(drawnFrom: &random), rule: "Hall", cause: Firing.Cause(.person), time: .zero)
        return EffectRequest(id: RequestID(drawnFrom: &random), effect: effect, firing: firing)
    }

    private func begin(_ queue: inout EffectQueue) -> [EffectRequest] {
        var begun: [EffectRequest] = []
        while let request = queue.next() {
            queue.begun(request, Task {})
            begun.append(request)
        }
        return begun
    }

    @Test("Blocked programs delay no notification and no web hook")
    func kinds() {
        var random = SeededRandom(seed: 1)
        var queue = EffectQueue()
        let programs = (0..<20).map { _ in request(Self.program, &random) }
        let others = (0..<20).map { request($0 < 10 ? Self.notify : Self.hook, &random) }
        for request in programs + others { queue.add(request) }
        #expect(begin(&queue) == Array(programs.prefix(8)) + Array(others.prefix(18)))
        #expect(queue.ended(programs[3].id) && !queue.ended(programs[3].id))
        #expect(begin(&queue) == [programs[8]])
        for request in others.prefix(10) { _ = queue.ended(request.id) }
        #expect(begin(&queue).isEmpty, "notifications occupy no place, so their end starts no other effect")
    }

    @Test("A withdrawn effect frees its place if it was running; otherwise it never starts")
    func withdrawal() async {
        var random = SeededRandom(seed: 2)
        var queue = EffectQueue()
        let hooks = (0..<10).map { _ in request(Self.hook, &random) }
        for request in hooks { queue.add(request) }
        #expect(begin(&queue) == Array(hooks.prefix(8)))
        let task = Task<Void, Never> { for await _ in AsyncStream.makeStream(of: Never.self).stream {} }
        queue.begun(hooks[0], task)
        queue.withdraw(hooks[0].id)
        await task.value
        queue.withdraw(hooks[8].id)
        #expect(begin(&queue) == [hooks[9]] && !queue.ended(hooks[0].id))
        queue.add(request(Self.notify, &random))
        queue.close()
        #expect(queue.next() == nil && !queue.isIdle)
        queue.withdrawAll()
        #expect(queue.isIdle)
    }
}
