import AsyncAlgorithms
import DurableRules
import LinuxSystem
import Metering
import NIOCore
import NIOPosix
import PlugClient
import PlugModel
import ProtocolCore
import RuleModel
import TestSupport
import Testing

@testable import Daemon

@Suite(.timeLimit(.minutes(1))) struct RuleRunnerTests {
    private let rules = [
        Rule(name: "Hall", triggers: [.button(plug: "switch", .single)], actions: [.turnOn(["Lamp"])]),
        Rule(
            name: "Movie night",
            triggers: [
                .activePower(plug: "Television", PowerThreshold(.risesAbove, watts: 40, dwell: .milliseconds(30)))
            ],
            actions: [.turnOff(["Lamp"]), .turnOn(["Amplifier"])]),
    ]

    /// Runs the rules while `body` sends updates and reads the records.
    private func running(
        _ house: FakeHouse, storing store: RuleStore? = nil, performer: (any EffectPerforming)? = nil,
        _ body: (inout AsyncStream<RunnerRecord>.Iterator) async -> Void
    ) async {
        let runner = RuleRunner(
            RuleFileSet(rules: rules), house: house, store: store, performer: performer,
            on: MultiThreadedEventLoopGroup.singleton.next())
        let task = Task { await runner.run() }
        // The records are buffered here, because unread records would stop the processing of the house's reports.
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
        #expect(await records.next() == nil, "the records must end with the run")
    }

    @Test("A button press causes a command, whose outcome is recorded")
    func aPressBecomesACommandAndItsOutcomeARecord() async {
        let house = FakeHouse()
        await running(house) { records in
            await house.snapshot("Lamp")
            await house.snapshot("Switch")
            guard case .following(plugs: 1, newest: "Lamp") = await records.next()?.notice,
                case .following(plugs: 2, newest: "Switch") = await records.next()?.notice
            else {
                Issue.record("the plugs were not reported as followed")
                return
            }
            await house.press("Switch")
            guard case .firing(let firing) = await records.next()?.notice else {
                Issue.record("the rule did not fire")
                return
            }
            #expect(firing.rule == "Hall" && firing.cause.plug == "Switch" && firing.cause.event == 5)
            guard case .commanded(let request, firing) = await records.next()?.notice, request.plug == "Lamp" else {
                Issue.record("no command was reported")
                return
            }
            guard case .command(let command, .done(_, event: 77)) = await records.next()?.notice,
                command.request.plug == "Lamp"
            else {
                Issue.record("the command was not reported as finished")
                return
            }
            let commands = await house.commands
            #expect(commands.map(\.plug) == ["Lamp"])
            #expect(commands.map(\.command) == [.setRelay(on: true, autoOff: nil)])
            await house.acknowledged(5, of: "Switch")
        }
    }

    @Test("Rules react to each event while their records are unread")
    func aStalledReaderDelaysNoRule() async {
        let house = FakeHouse()
        let runner = RuleRunner(
            RuleFileSet(rules: rules), house: house, store: nil, on: MultiThreadedEventLoopGroup.singleton.next())
        let task = Task { await runner.run() }
        await house.snapshot("Lamp")
        await house.snapshot("Switch")
        for sequence in 5...8 as ClosedRange<SequenceNumber> {
            await house.press("Switch", sequence: sequence)
            await house.acknowledged(sequence, of: "Switch")
        }
        while await house.commands.count < 4 { await Task.yield() }
        let reading = Task { await runner.records.reduce(0) { count, _ in count + 1 } }
        task.cancel()
        await task.value
        #expect(await reading.value > 8, "the records are kept for a late reader")
    }

    @Test("A dwell ends without further readings, and the rule commands each of its plugs")
    func aDwellEndsByItselfAndCommandsEveryPlugOfTheRule() async {
        let house = FakeHouse(refusing: ["Amplifier": Refusal(.protectionTripped, "too much")])
        await running(house) { records in
            await house.snapshot("Lamp", on: true)
            await house.snapshot("Amplifier")
            await house.snapshot("Television", watts: 1, time: 10)
            for _ in 0..<3 { _ = await records.next() }
            await house.reading("Television", watts: 80, time: 11)
            guard case .firing(let firing) = await records.next()?.notice else {
                Issue.record("the rule did not fire")
                return
            }
            #expect(firing.rule == "Movie night")
            var outcomes: [String: CommandOutcome] = [:]
            for _ in 0..<4 {
                if case .command(let command, let outcome) = await records.next()?.notice {
                    outcomes[command.request.plug] = outcome
                }
            }
            #expect(
                outcomes == [
                    "Lamp": .done(PlugState(relayOn: true), event: 77),
                    "Amplifier": .refused(Refusal(.protectionTripped, "too much")),
                ])
        }
    }

    @Test("A command for a missing plug is reported as not sent, and an old press is held back")
    func aPlugThatIsNotThereAndAPressOfLongAgo() async {
        let house = FakeHouse()
        await running(house) { records in
            await house.snapshot("Switch")
            _ = await records.next()
            await house.press("Switch")
            guard case .firing = await records.next()?.notice,
                case .notSent(_, plug: "Lamp", .notPresent) = await records.next()?.notice
            else {
                Issue.record("the firing or the missing plug was not reported")
                return
            }
            // The plug replays an old press from its journal. The user no longer expects an effect of this press.
            await house.press("Switch", sequence: 6, age: .seconds(3600))
            await house.press("Switch", sequence: 7, age: nil)
            for age in [Duration.seconds(3600), nil] {
                guard case .heldBack(_, .old(age: age)) = await records.next()?.notice else {
                    Issue.record("the held-back firing was not reported")
                    return
                }
            }
            let gap = Gap(from: 8, to: 9, reason: .powerLost)
            await house.report(.gap(gap), of: "Switch")
            guard case .gap(plug: "Switch", gap) = await records.next()?.notice else {
                Issue.record("the gap was not reported")
                return
            }
            #expect(await house.commands.isEmpty)
        }
    }

    @Test("If the power rose while a plug was disconnected, no rule fires when the plug returns")
    func thePlugThatComesBackIsFollowedAnew() async {
        let house = FakeHouse()
        await running(house) { records in
            await house.snapshot("Television", watts: 1, time: 10)
            _ = await records.next()
            await house.report(.disconnected(reason: .away("connection lost"), retryIn: .seconds(1)), of: "Television")
            // The power rose while the plug was disconnected, so the rule must not fire.
            await house.snapshot("Television", watts: 80, time: 20)
            guard case .following(plugs: 1, newest: "Television") = await records.next()?.notice else {
                Issue.record("the plug was not reported as followed")
                return
            }
            await house.reading("Television", watts: 81, time: 21)
            await house.updates.send(.lost("Television"))
            guard case .lost = await records.next()?.notice else {
                Issue.record("the rule fired")
                return
            }
        }
    }

    /// Houses with different secrets use different ids, which no other house can compute.
    @Test("Within one house, the same press always causes the same request id")
    func theSameEdgeGivesTheSameRequestInOneHouse() async throws {
        var ids: [RequestID] = []
        for secret in [1, 1, 2] as [UInt8] {
            let directory = TestFolder()
            try FileStore().replaceSecret(directory.path + "/secret", with: [UInt8](repeating: secret, count: 32))
            let house = FakeHouse()
            let store = try RuleStore(directory.path) { Issue.record("\($0)") }
            await running(house, storing: store) { records in
                await house.snapshot("Lamp")
                await house.snapshot("Switch")
                await house.press("Switch")
                for _ in 0..<5 { _ = await records.next() }
                ids += await house.commands.map(\.id)
            }
        }
        #expect(ids.count == 3 && ids[0] == ids[1] && ids[0] != ids[2])
    }

    @Test("A command without an answer at the stop is sent again by the next process")
    func whatHasNoAnswerWhenItStopsIsSentAgainByTheNextOne() async throws {
        let directory = TestFolder()
        let silent = FakeHouse(isSilent: true)
        await running(silent, storing: try RuleStore(directory.path) { Issue.record("\($0)") }) { records in
            await silent.snapshot("Lamp")
            await silent.snapshot("Switch")
            await silent.press("Switch")
            for _ in 0..<4 { _ = await records.next() }
        }
        let house = FakeHouse()
        let store = try RuleStore(directory.path) { Issue.record("\($0)") }
        #expect(store.memory.cursors[.made("Switch")] == 5)
        await running(house, storing: store) { records in
            await house.snapshot("Lamp")
            _ = await records.next()
            guard case .resumed(let command) = await records.next()?.notice,
                case .command(command, .done(_, event: 77)) = await records.next()?.notice
            else {
                Issue.record("the command was not sent again")
                return
            }
            #expect(command.rule == "Hall" && command.event == 5)
            #expect(await house.commands.map(\.id) == [store.cipher.encrypt(command.request.id)])
            // The repeated press is not handled again.
            await house.snapshot("Switch")
            _ = await records.next()
            await house.press("Switch")
            await house.press("Switch", sequence: 6)
            guard case .firing(let firing) = await records.next()?.notice else {
                Issue.record("the rule did not fire")
                return
            }
            #expect(firing.cause.event == 6)
            for _ in 0..<2 { _ = await records.next() }
        }
    }

    @Test("A failing disk is reported once and stops no rule")
    func aDiskThatFailsIsSaidOnceAndStopsNoRule() async throws {
        let directory = TestFolder()
        let disk = FailingWrites()
        try disk.preventReserve(in: directory.path)
        let store = try RuleStore(directory.path, files: FileStore(calls: disk)) { Issue.record("\($0)") }
        let house = FakeHouse()
        await running(house, storing: store) { records in
            await house.snapshot("Lamp")
            await house.snapshot("Switch")
            for _ in 0..<2 { _ = await records.next() }
            disk.fails = true
            for sequence in 5...6 as ClosedRange<SequenceNumber> {
                await house.press("Switch", sequence: sequence)
                if sequence == 5 {
                    guard case .notStored(let reason) = await records.next()?.notice else {
                        Issue.record("the storage failure was not reported")
                        return
                    }
                    #expect(reason.hasSuffix("No space left on device"))
                }
                guard case .firing = await records.next()?.notice, case .commanded = await records.next()?.notice,
                    case .command = await records.next()?.notice
                else {
                    Issue.record("the rule did not fire")
                    return
                }
                await house.acknowledged(sequence, of: "Switch")
            }
            disk.fails = false
            await house.press("Switch", sequence: 7)
            var notices: [RuleNotice] = []
            for _ in 0..<4 { if let notice = await records.next()?.notice { notices.append(notice) } }
            #expect(notices.contains(.stored))
        }
    }
}
