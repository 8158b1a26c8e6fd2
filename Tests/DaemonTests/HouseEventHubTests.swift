import LinuxSystem
import NIOPosix
import PlugClient
import PlugModel
import RuleModel
import Synchronization
import Testing

@testable import Daemon

@Suite(.timeLimit(.minutes(1))) struct HouseEventHubTests {
    @Test("A stalled observer delays no rule, and later receives the number of updates that its full queue refused")
    func aStalledObserverDelaysNoRule() async throws {
        let (house, observer, limit, refused) = (FakeHouse(), StalledObserver(), 100, 10)
        let hub = HouseEventHub(
            house, rules: EventDeduplicator([:], start: BootClock.now), recorder: nil, audiences: [observer],
            limit: limit, on: MultiThreadedEventLoopGroup.singleton.next())
        let (received, rules) = AsyncStream.makeStream(of: HouseFollower.Update.self)
        let task = Task { await hub.run { rules.yield($0) } }
        var updates = received.makeAsyncIterator()
        // The observer handles one update, the queue takes `limit` updates, and it refuses the rest.
        for number in 0...(limit + refused) {
            async let sent: Void = house.reading("Lamp", watts: 1, time: Double(number))
            #expect(await updates.next() != nil)
            await sent
            if number == 0 { await observer.stalled() }
        }
        observer.proceed()
        while observer.updates <= limit { await Task.yield() }
        async let sent: Void = house.reading("Lamp", watts: 1, time: 0)
        #expect(await updates.next() != nil)
        await sent
        while observer.updates <= limit + 1 { await Task.yield() }
        #expect(observer.leftOut == [refused])
        task.cancel()
        await task.value
        await hub.end()
    }

    @Test("settle() waits until the observers have handled a change of the rules") func settled() async {
        let (house, observer) = (FakeHouse(), StalledObserver())
        observer.proceed()
        let hub = HouseEventHub(
            house, rules: EventDeduplicator([:], start: BootClock.now), recorder: nil, audiences: [observer],
            on: MultiThreadedEventLoopGroup.singleton.next())
        await hub.rulesChanged([], disabled: [], faults: [])
        let (received, rules) = AsyncStream.makeStream(of: HouseFollower.Update.self)
        let task = Task { await hub.run { rules.yield($0) } }
        async let sent: Void = house.reading("Lamp", watts: 1, time: 0)
        var updates = received.makeAsyncIterator()
        #expect(await updates.next() != nil)
        await sent
        await hub.rulesChanged([], disabled: ["Hall"], faults: [])
        await hub.settle()
        #expect(observer.disabled == [[], ["Hall"]])
        task.cancel()
        await task.value
        await hub.end()
    }
}

/// An observer that does not return from its first update before ``proceed()``.
private final class StalledObserver: HouseObserver {
    private struct State {
        var (updates, leftOut, disabled) = (0, [Int](), [Set<String>]())
        var isStalled = false
        var waiting: CheckedContinuation<Void, Never>?
        var proceeds = false
    }

    private let state = Mutex(State())

    var updates: Int { state.withLock { $0.updates } }
    var leftOut: [Int] { state.withLock { $0.leftOut } }
    var disabled: [Set<String>] { state.withLock { $0.disabled } }

    func handle(_ update: HouseFollower.Update) async {
        state.withLock { $0.updates += 1 }
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.isStalled = true
                if state.proceeds { continuation.resume() } else { state.waiting = continuation }
            }
        }
    }

    func note(_ record: RunnerRecord) {
        if case .recordsLeftOut(let count) = record.notice { state.withLock { $0.leftOut.append(count) } }
    }

    func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) {
        state.withLock { $0.disabled.append(disabled) }
    }

    /// Returns when the observer has received its first update.
    func stalled() async { while state.withLock({ !$0.isStalled }) { await Task.yield() } }

    func proceed() {
        state.withLock { state in
            state.proceeds = true
            state.waiting?.resume()
            state.waiting = nil
        }
    }
}
