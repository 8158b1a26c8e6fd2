import Appliance
import Foundation
import LinuxSystem
import Logging
import NIOCore
import NIOPosix
import PlugHardware
import PlugModel
import PlugProtocol
import TestSupport
import Testing

@testable import PlugService

@Suite(.timeLimit(.minutes(1))) struct PlugServiceTests {
    private let request = RequestID(bytes: [UInt8](repeating: 9, count: 16))!

    @Test("A press at the panel becomes events") func aPressAtThePanelBecomesEvents() async throws {
        let plug = try await RunningPlug()
        var heard = try await plug.controller().updates.makeAsyncIterator()
        #expect(await heard.snapshot()?.relayOn == false)
        #expect(try await plug.ask(.press(.single)) == "pressed")
        let relay = try #require(await heard.nextEvent())
        #expect(relay.kind == .relayChanged(on: true, cause: .button))
        #expect(plug.parts.isRelayOn)
        let press = try #require(await heard.nextEvent())
        #expect(press.kind == .buttonPressed(.single))
        #expect(press.sequence == relay.sequence + 1)
        await plug.stop()
    }

    @Test("A command switches the relay, and every controller is notified")
    func aCommandMovesTheRelayAndEveryControllerHearsOfIt() async throws {
        let plug = try await RunningPlug()
        let desk = try await plug.controller()
        var atDesk = desk.updates.makeAsyncIterator()
        var atHall = try await plug.controller().updates.makeAsyncIterator()
        _ = await atDesk.snapshot()
        _ = await atHall.snapshot()
        await desk.command(request, .setRelay(on: true, autoOff: nil))
        let event = try #require(await atHall.nextEvent())
        guard case .relayChanged(on: true, cause: .controller(name: "desk (Desk)", request: request, _)) = event.kind
        else {
            Issue.record("\(event.kind)")
            return
        }
        guard case .done(let state, event: event.sequence) = await atDesk.nextOutcome() else {
            Issue.record("the command was not executed")
            return
        }
        #expect(state.relayOn && plug.parts.isRelayOn)
        await plug.stop()
    }

    @Test("A restart keeps the id and the relay state, and event numbers continue")
    func aRestartKeepsTheIdAndTheRelayAndNumbersGoOn() async throws {
        let directory = TestFolder()
        let first = try await RunningPlug(in: directory)
        let id = await first.service.machine.identity.id
        _ = try await first.ask(.press(.single))
        var heard = try await first.controller(after: 0).updates.makeAsyncIterator()
        var last: SequenceNumber = 0
        while let event = await heard.nextEvent() {
            last = event.sequence
            if event.kind == .buttonPressed(.single) { break }
        }
        await first.stop()
        let next = last + 1
        #expect(directory.text("sequence") == "\(next)\n\(next)\n", "after an orderly stop no number is skipped")

        let second = try await RunningPlug(in: directory.copy())
        #expect(await second.service.machine.identity.id == id)
        var again = try await second.controller(after: last).updates.makeAsyncIterator()
        let event = try #require(await again.nextEvent())
        #expect(event.sequence == last + 1)
        #expect(event.kind == .restarted(powerLost: false))
        #expect(second.parts.isRelayOn)
        await second.stop()
    }

    @Test("A killed plug loses no event") func aPlugThatWasKilledLosesNothing() async throws {
        let directory = TestFolder()
        let killed = try await RunningPlug(in: directory)
        _ = try await killed.ask(.press(.single))
        var live = try await killed.controller(after: 0).updates.makeAsyncIterator()
        var before: [PlugEvent] = []
        while before.last?.kind != .buttonPressed(.single), let event = await live.nextEvent() { before.append(event) }
        let plug = try await RunningPlug(in: directory.copy())
        var heard = try await plug.controller(after: 0).updates.makeAsyncIterator()
        for event in before { #expect(await heard.nextEvent() == event) }
        let next = await heard.nextEvent()
        #expect(next.map { Int($0.sequence) } == before.count + 1 && next?.kind == .restarted(powerLost: false))
        #expect(plug.parts.isRelayOn)
        await plug.stop()
        await killed.stop()
    }

    @Test("A plug without its mirror continues at the stored boundary of the event numbers")
    func aPlugWithoutItsMirrorGoesOnAtTheBoundary() async throws {
        let directory = TestFolder()
        let killed = try await RunningPlug(in: directory)
        let before = await killed.service.machine.nextSequence
        let copy = try directory.copy()
        try FileManager.default.removeItem(atPath: copy.path + "/run/mirror")
        let plug = try await RunningPlug(in: copy)
        var heard = try await plug.controller(after: before - 1).updates.makeAsyncIterator()
        var gap: Gap?
        while let update = await heard.next() {
            if case .subscribed(_, gap: let told) = update {
                gap = told
                break
            }
        }
        #expect(gap == Gap(from: before, to: 1000, reason: .powerLost))
        await plug.stop()
        await killed.stop()
    }

    @Test("A stop of the plug ends the sessions, and no event number is used after it")
    func stoppingSaysGoodbyeAndUsesNoNumberAfterwards() async throws {
        let plug = try await RunningPlug()
        var heard = try await plug.controller().updates.makeAsyncIterator()
        _ = await heard.snapshot()
        await plug.stop()
        var last: SessionUpdate?
        while let update = await heard.next() { last = update }
        guard case .ended(.endedByPeer(let goodbye)) = last else {
            Issue.record("\(String(describing: last))")
            return
        }
        #expect(goodbye.reason == .stopping)
        let next = await plug.service.machine.nextSequence
        #expect(plug.directory.text("sequence") == "\(next)\n\(next)\n")
        await plug.service.handle(.appliance(.buttonEdge(down: true, at: BootClock.now)))
        await plug.service.rename("Another")
        #expect(await plug.service.machine.nextSequence == next)
        #expect(await plug.service.machine.identity.name == "Lamp")
    }

    @Test("A second plug in the same directory is refused") func aSecondPlugOnTheSameDirectoryIsRefused() async throws {
        let plug = try await RunningPlug()
        let error = await #expect(throws: (any Error).self) { try await RunningPlug(in: plug.directory) }
        #expect("\(error!)".contains("\(plug.directory.path) is in use by process"))
        await plug.stop()
    }

    @Test("A plug that cannot write any file still switches by its button")
    func aPlugWithNowhereToWriteSwitchesByItsButton() async throws {
        let directory = TestFolder()
        try directory.write("a file", to: "state")
        let nowhere = PlugDirectories(state: directory.path + "/state", runtime: directory.path + "/state/run")
        let parts = SimulatedPlug(load: .fixed(deciwatts: 600), seed: 1, clock: { BootClock.now })
        var appliance = ApplianceConfiguration()
        appliance.debounce = .zero
        let settings = PlugSettings(
            name: "Lamp", directories: nowhere, interfaces: ["lo"], appliance: appliance,
            parts: parts.parts(dimmable: false), simulated: parts)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let service = try PlugService(
            settings, on: loop, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        await service.start()
        // Both edges are in one turn of the loop. On a busy machine they would otherwise be a long press.
        try await loop.submit {
            service.assumeIsolated {
                for down in [true, false] { $0.handle(.appliance(.buttonEdge(down: down, at: BootClock.now))) }
            }
        }.get()
        #expect(parts.isRelayOn)
        await service.stop()
    }
}
