import PlugProtocol
import Testing

@testable import PlugService

@Suite(.timeLimit(.minutes(1))) struct PlugServiceTests {
    private let request = RequestID(bytes: [UInt8](repeating: 9, count: 16))!

    @Test func aPressAtThePanelBecomesEvents() async throws {
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

    @Test func aCommandMovesTheRelayAndEveryControllerHearsOfIt() async throws {
        let plug = try await RunningPlug()
        let desk = try await plug.controller()
        var atDesk = desk.updates.makeAsyncIterator()
        var atHall = try await plug.controller().updates.makeAsyncIterator()
        _ = await atDesk.snapshot()
        _ = await atHall.snapshot()
        await desk.command(request, .setRelay(on: true, autoOff: nil))
        let event = try #require(await atHall.nextEvent())
        #expect(event.kind == .relayChanged(on: true, cause: .controller(name: "Desk", request: request)))
        guard case .done(let state, event: event.sequence) = await atDesk.nextOutcome() else {
            Issue.record("not done")
            return
        }
        #expect(state.relayOn && plug.parts.isRelayOn)
        await plug.stop()
    }

    @Test func aRestartKeepsTheIdAndTheRelayAndNumbersGoOn() async throws {
        let directory = TemporaryDirectory()
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
        #expect(directory.text("sequence") == "\(last + 1)\n", "after an orderly stop no number is skipped")

        let second = try await RunningPlug(in: directory.copy())
        #expect(await second.service.machine.identity.id == id)
        var again = try await second.controller(after: last).updates.makeAsyncIterator()
        let event = try #require(await again.nextEvent())
        #expect(event.sequence == last + 1)
        #expect(event.kind == .restarted(powerLost: false))
        #expect(second.parts.isRelayOn)
        await second.stop()
    }

    @Test func aPlugThatWasKilledGoesOnAtTheBoundary() async throws {
        let directory = TemporaryDirectory()
        let killed = try await RunningPlug(in: directory)
        let before = await killed.service.machine.nextSequence
        #expect(directory.text("sequence") == "\(1 + StateDirectory.reservation)\n")
        let plug = try await RunningPlug(in: directory.copy())
        #expect(await plug.service.machine.nextSequence > before)
        var heard = try await plug.controller(after: before - 1).updates.makeAsyncIterator()
        var gap: Gap?
        while let update = await heard.next() {
            if case .subscribed(_, gap: let told) = update {
                gap = told
                break
            }
        }
        #expect(gap == Gap(from: before, to: StateDirectory.reservation, reason: .powerLost))
        await plug.stop()
        await killed.stop()
    }

    @Test func aRestartOfTheFirmwareAloneIsNoLossOfPower() async throws {
        let directory = TemporaryDirectory()
        let first = try await RunningPlug(in: directory)
        await first.stop()
        let second = try await RunningPlug(in: directory.copy())
        var heard = try await second.controller(after: 0).updates.makeAsyncIterator()
        var kinds: [PlugEvent.Kind] = []
        if let event = await heard.nextEvent() { kinds.append(event.kind) }
        #expect(kinds == [.restarted(powerLost: false)])
        await second.stop()
    }

    @Test func stoppingSaysGoodbyeAndUsesNoNumberAfterwards() async throws {
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
        #expect(plug.directory.text("sequence") == "\(next)\n")
        await plug.service.handle(.buttonEdge(down: true))
        await plug.service.rename("Another")
        #expect(await plug.service.machine.nextSequence == next)
        #expect(await plug.service.machine.identity.name == "Lamp")
    }

    @Test func aSecondPlugOnTheSameDirectoryIsRefused() async throws {
        let plug = try await RunningPlug()
        let error = await #expect(throws: (any Error).self) { try await RunningPlug(in: plug.directory) }
        #expect("\(error!)".contains("\(plug.directory.path) is in use by process"))
        await plug.stop()
    }

    @Test func numbersAreReservedBeforeTheyRunOut() async throws {
        let plug = try await RunningPlug()
        let controller = try await plug.controller()
        var heard = controller.updates.makeAsyncIterator()
        _ = await heard.snapshot()
        for number in 0..<StateDirectory.reservation {
            var bytes = [UInt8](repeating: 0, count: 16)
            (bytes[0], bytes[1]) = (UInt8(number & 255), UInt8(number >> 8))
            await controller.command(RequestID(bytes: bytes)!, .setRelay(on: number % 2 == 0, autoOff: nil))
            _ = await heard.nextOutcome()
        }
        let next = await plug.service.machine.nextSequence
        #expect(next > StateDirectory.reservation)
        let stored = try #require(plug.directory.text("sequence").flatMap { SequenceNumber($0.dropLast()) })
        #expect(stored > next)
        await plug.stop()
    }
}
