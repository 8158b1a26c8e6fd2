import Appliance
import LinuxSystem
import Logging
import NIOCore
import NIOPosix
import PlugHardware
import PlugProtocol
import PlugTransport
import Synchronization
import TestSupport
import Testing

@testable import PlugService

/// Tests that the button works while storage or buses block.
@Suite(.timeLimit(.minutes(1))) struct BlockingTests {
    private let directory = TestFolder()
    private let latch = Latch()
    private let loop = MultiThreadedEventLoopGroup.singleton.next()
    private let plug = SimulatedPlug(load: .fixed(deciwatts: 600), seed: 1, clock: { BootClock.now })

    private func service(meter: StuckMeter? = nil, files: FileStore = FileStore()) throws -> PlugService {
        var appliance = ApplianceConfiguration()
        appliance.debounce = .zero
        appliance.doublePressWindow = .zero
        var parts = plug.parts(dimmable: false)
        if let meter { parts.meter = meter }
        let settings = PlugSettings(
            name: "Lamp", directories: directory.directories, interfaces: ["lo"], appliance: appliance, parts: parts)
        return try PlugService(
            settings, on: loop, files: files, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Runs the body in one turn of the event loop.
    private func on(_ service: PlugService, _ body: @escaping @Sendable (isolated PlugService) -> Void) async throws {
        try await loop.submit { service.assumeIsolated(body) }.get()
    }

    /// Returns when all writes that the start of the service caused are in flash, such as the first entry of the
    /// audit log.
    private func firstWritesEnd(of service: PlugService) async throws {
        while await !service.flash.jobs.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Presses and releases the button in one turn of the event loop. On a busy machine, the time between two turns
    /// could turn the press into a long press.
    private func press(_ service: PlugService) async throws {
        try await on(service) { service in
            for down in [true, false] { service.handle(.appliance(.buttonEdge(down: down, at: BootClock.now))) }
        }
    }

    @Test("A storage that hangs does not delay a press") func aStorageThatHangsDelaysNoPress() async throws {
        let service = try service(files: FileStore(calls: HangingFlash(latch)))
        await service.start()
        latch.shut()
        try await on(service) { $0.write(.state, $0.storage.writing(StoredState(milliwattHours: 7))) }
        await latch.untilSomebodyIsStopped()
        try await press(service)
        #expect(plug.isRelayOn)
        #expect(latch.stopped == 1, "the write still hangs")
        latch.open()
        await service.stop()
        #expect(directory.text("state")?.hasPrefix("on ") == true, "an orderly stop writes the newest state to flash")
        let next = await service.machine.nextSequence
        #expect(directory.text("sequence") == "\(next)\n\(next)\n")
    }

    @Test("Messages are held until the list of controllers is in flash")
    func nobodyIsToldBeforeFlashSaysWhoIsPaired() async throws {
        let service = try service(files: FileStore(calls: HangingFlash(latch)))
        await service.start()
        latch.shut()
        let desk = PairedControllers([PairedControllers.Controller(key: RunningPlug.desk.publicKey, name: "desk")])
        try await on(service) {
            $0.perform([.keep(desk), .server(.pairingWindow(isOpen: false)), .part(.setRelay(true))])
        }
        await latch.untilSomebodyIsStopped()
        #expect(plug.isRelayOn, "the relay does not wait for flash")
        #expect(await service.flash.heldActions == [.server(.pairingWindow(isOpen: false))])
        #expect(directory.text("controllers") == nil)
        latch.open()
        await service.stop()
        #expect(await service.flash.heldActions.isEmpty)
        #expect(directory.text("controllers")?.contains("desk") == true)
    }

    @Test("A waiting write is replaced by a newer one of the same kind")
    func writesThatWaitAreReplacedByNewerOnes() async throws {
        let service = try service(files: FileStore(calls: HangingFlash(latch)))
        await service.start()
        try await firstWritesEnd(of: service)
        latch.shut()
        try await on(service) { service in
            for energy in 1...100 as ClosedRange<UInt64> {
                service.write(.state, service.storage.writing(StoredState(milliwattHours: energy)))
            }
        }
        await latch.untilSomebodyIsStopped()
        #expect(await service.flash.jobs.count == 2)
        latch.open()
        await service.stop()
    }

    @Test("Events wait for a storage that hangs, and no event number is skipped")
    func eventsWaitForAStorageThatHangsAndLeapOverNoNumber() async throws {
        let service = try service(files: FileStore(calls: HangingFlash(latch)))
        await service.start()
        latch.shut()
        // Each press records two events. Together the presses record more events than the first boundary covers.
        try await on(service) { service in
            for _ in 0..<601 {
                for down in [true, false] { service.handle(.appliance(.buttonEdge(down: down, at: BootClock.now))) }
            }
        }
        await latch.untilSomebodyIsStopped()
        #expect(plug.isRelayOn, "the relay does not wait for flash")
        #expect(await service.machine.nextSequence == 1001)
        #expect(await service.machine.memory.unnumbered.count == 203)
        latch.open()
        while await !service.machine.memory.unnumbered.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        #expect(await service.machine.nextSequence == 1204)
        await service.stop()
    }

    @Test("A boundary of the event numbers is written before all waiting writes")
    func aBoundaryIsWrittenBeforeAllThatHasNotBegun() async throws {
        let service = try service(files: FileStore(calls: HangingFlash(latch)))
        await service.start()
        try await firstWritesEnd(of: service)
        latch.shut()
        try await on(service) { service in
            service.write(.state, service.storage.writing(StoredState(milliwattHours: 7)))
            service.write(.settings, service.storage.writing(StoredSettings()))
            service.write(.boundary, service.storage.reserving(upTo: 2000), boundary: 2000)
        }
        await latch.untilSomebodyIsStopped()
        #expect(await service.flash.jobs.map(\.kind) == [.state, .boundary, .settings])
        latch.open()
        await service.stop()
    }

    @Test("While a read of a stuck bus blocks, a press is handled and no second read begins")
    func aBusThatIsStuckDelaysNoPressAndIsAskedOnce() async throws {
        let meter = StuckMeter(latch)
        latch.shut()
        let service = try service(meter: meter)
        await service.start()
        await latch.untilSomebodyIsStopped()
        try await press(service)
        #expect(plug.isRelayOn)
        try await on(service) { $0.readMeter() }
        #expect(meter.timesAsked == 1 && latch.stopped == 1)
        latch.open()
        await service.stop()
    }

    private final class Cupboard: Sendable {
        let isOpen = Atomic(false)
    }

    @Test("A button that becomes available later works") func aButtonThatComesLateWorks() throws {
        let cupboard = Cupboard()
        let button = LateButton { [plug] () throws(HardwareFault) in
            guard cupboard.isOpen.load(ordering: .relaxed) else {
                throw HardwareFault(part: "button", reason: "no such line")
            }
            return plug
        }
        #expect(throws: HardwareFault.self) { _ = try button.watch { _ in } }
        cupboard.isOpen.store(true, ordering: .relaxed)
        _ = try button.watch { [plug] edge in if edge.down { plug.set(on: true) } }
        plug.moveButton(down: true)
        #expect(plug.isRelayOn)
    }
}
