import Dispatch
import Metering
import NIOCore
import NIOPosix
import PlugClient
import PlugModel
import PowerHistory
import ProtocolCore
import RuleModel
import Synchronization
import Testing

@testable import Daemon

@Suite(.timeLimit(.minutes(1))) struct RecorderTests {
    private let rules = [
        Rule(name: "Hall", triggers: [.button(plug: "Switch", .single)], actions: [.turnOn(["Lamp"])])
    ]

    /// Runs rules and history together while `body` sends updates.
    private func recording(
        _ house: FakeHouse, in history: MadeUpHistory, after cursors: [PlugID: SequenceNumber] = [:],
        complaints: Complaints = Complaints(),
        _ body: (inout AsyncStream<RunnerRecord>.Iterator) async -> Void
    ) async {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let recorder = Recorder(history, cursors: cursors, on: loop) { complaints.add($0) }
        let seen = EventDeduplicator([:], others: EventDeduplicator.first(rules: [:], history: cursors), start: .zero)
        let shared = HouseEventHub(house, rules: seen, recorder: recorder, on: loop)
        let runner = RuleRunner(RuleFileSet(rules: rules), house: shared, store: nil, on: loop)
        let task = Task { await runner.run() }
        let (kept, continuation) = AsyncStream.makeStream(of: RunnerRecord.self)
        let keeping = Task {
            for await record in runner.records { continuation.yield(record) }
            continuation.finish()
        }
        var records = kept.makeAsyncIterator()
        await body(&records)
        task.cancel()
        await task.value
        await keeping.value
    }

    @Test("Samples that a plug has stored are fetched newest first")
    func whatAPlugRemembersIsStoredNewestFirst() async {
        let house = FakeHouse(remembering: 1...20_000)
        let history = MadeUpHistory()
        var asked: [ClosedRange<Int64>] = []
        await recording(house, in: history) { _ in
            await house.snapshot("Lamp", watts: 3, time: 20_000)
            await history.has { $0.fetched.map(\.span.lowerBound).min() == 0 }
            // The stop fetches the newest samples again. Those requests are not checked here.
            asked = await house.fetched
        }
        let ends = asked.map(\.upperBound)
        #expect(ends.first.map { $0 >= 20_000_000 } == true && ends == ends.sorted(by: >))
        let seconds = history.stored.chunks.flatMap { (try? $0.chunk.samples().map { $0.milliseconds / 1000 }) ?? [] }
        #expect(Set(seconds) == Set(1...20_000))
        #expect(history.stored.names == [.made("Lamp"): "Lamp"] && history.stored.counters.count == 1)
    }

    @Test("Events and firings are stored once and in order") func eventsAndFiringsAreStoredOnceAndInOrder() async {
        let house = FakeHouse()
        let history = MadeUpHistory()
        await recording(house, in: history, after: [.made("Switch"): 4]) { records in
            await house.snapshot("Lamp")
            await house.snapshot("Switch")
            for sequence in [3, 4, 5, 5, 6] as [SequenceNumber] { await house.press("Switch", sequence: sequence) }
            await history.has { $0.events.count == 2 && !$0.firings.isEmpty }
        }
        let numbers = history.stored.events.compactMap { stored -> SequenceNumber? in
            guard case .event(let event) = stored.content else { return nil }
            return event.sequence
        }
        #expect(numbers == [5, 6])
        #expect(history.stored.firings.allSatisfy { $0.rule == "Hall" && $0.plug == .made("Switch") })
    }

    @Test("Rules continue while the disk is blocked") func whileADiskHangsRulesGoOnAsEver() async {
        let gate = DispatchSemaphore(value: 0)
        let house = FakeHouse(remembering: 1...100)
        let history = MadeUpHistory(gate: gate)
        await recording(house, in: history) { records in
            await house.snapshot("Lamp")
            await house.snapshot("Switch")
            for _ in 0..<2 { _ = await records.next() }
            for sequence in 5..<30 as Range<SequenceNumber> {
                await house.press("Switch", sequence: sequence)
                guard case .firing = await records.next()?.notice, case .commanded = await records.next()?.notice,
                    case .command = await records.next()?.notice
                else {
                    Issue.record("the rule did not fire")
                    return gate.signal(1000)
                }
            }
            #expect(history.stored.events.isEmpty)
            gate.signal(1000)
            await history.has { $0.events.count == 25 }
        }
    }

    @Test("A full disk is reported once, and no event is lost")
    func aFullDiskIsSaidOnceAndNothingThatHappenedIsMissing() async {
        let house = FakeHouse(remembering: 1...100)
        let (history, complaints) = (MadeUpHistory(), Complaints())
        history.fails = true
        await recording(house, in: history, complaints: complaints) { records in
            await house.snapshot("Switch", watts: 1, time: 100)
            await house.press("Switch", sequence: 5)
            await complaints.heard(1)
            await house.press("Switch", sequence: 6)
            history.fails = false
            await history.has { $0.events.count == 2 && !$0.chunks.isEmpty }
            await complaints.heard(2)
        }
        let heard = complaints.all
        #expect(heard.count == 2 && heard[0].contains("no space") && heard[0].contains("\nhint: free some space"))
        #expect(heard.last == "the history is writable again")
    }

    @Test("A stop fetches and writes the newest samples") func atTheStopWhatCameLastIsFetchedAndWritten() async {
        let house = FakeHouse(remembering: 1...100)
        let history = MadeUpHistory()
        await recording(house, in: history) { _ in
            await house.snapshot("Lamp")
            await history.has { !$0.chunks.isEmpty }
            await house.remember(through: 150)
            await house.press("Lamp", sequence: 8)
        }
        #expect(history.stored.fetched.map(\.span.upperBound).max() == 150_000)
        #expect(history.stored.events.count == 1)
    }
}

extension DispatchSemaphore {
    fileprivate func signal(_ times: Int) { for _ in 0..<times { signal() } }
}

/// Collects the messages for the user.
final class Complaints: Sendable {
    private let state = Mutex<(all: [String], waiting: (Int, CheckedContinuation<Void, Never>)?)>(([], nil))

    var all: [String] { state.withLock { $0.all } }

    func add(_ text: String) {
        state.withLock { state in
            state.all.append(text)
            guard let (count, continuation) = state.waiting, state.all.count >= count else { return }
            state.waiting = nil
            continuation.resume()
        }
    }

    /// Returns when this many messages have arrived.
    func heard(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isSo = state.withLock { state in
                if state.all.count >= count { return true }
                state.waiting = (count, continuation)
                return false
            }
            if isSo { continuation.resume() }
        }
    }
}
