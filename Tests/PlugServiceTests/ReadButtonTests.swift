import Appliance
import Glibc
import LinuxSystem
import Logging
import NIOPosix
import PlugHardware
import ProtocolCore
import Synchronization
import TestSupport
import Testing

@testable import PlugService

/// Tests of buttons whose edges are read from a descriptor, here a pipe.
@Suite(.timeLimit(.minutes(1))) struct ReadButtonTests {
    /// A button with one byte per event: 1 for down, 9 for a failure that ends the button, any other value for up.
    private final class PipeButton: Button, EdgeSource {
        private let report = Mutex<(@Sendable (ButtonEdge) -> Void)?>(nil)
        let failures = Mutex<[Int32]>([])
        let (reading, writing): (Int32, Int32)

        init() {
            var ends: [Int32] = [-1, -1]
            #expect(pipe(&ends) == 0)
            (reading, writing) = (ends[0], ends[1])
        }

        deinit {
            close(reading)
            close(writing)
        }

        var isDebounced: Bool { true }

        func watch(
            _ report: @escaping @Sendable (ButtonEdge) -> Void
        ) throws(HardwareFault) -> (any EdgeSource)? {
            // A button that has ended stays ended.
            if !failures.withLock({ $0.isEmpty }) { throw HardwareFault(part: "button", reason: "gone") }
            self.report.withLock { $0 = report }
            return self
        }

        func openDescriptor() throws(HardwareFault) -> Int32 { dup(reading) }

        func receive(_ bytes: UnsafeRawBufferPointer) throws(HardwareFault) {
            for byte in bytes {
                if byte == 9 { throw fail(ENODEV) }
                report.withLock { $0 }?(ButtonEdge(down: byte == 1, time: BootClock.now))
            }
        }

        func fail(_ number: Int32) -> HardwareFault {
            failures.withLock { $0.append(number) }
            return HardwareFault(part: "button", reason: "gone")
        }

        func write(_ bytes: [UInt8]) { #expect(Glibc.write(writing, bytes, bytes.count) == bytes.count) }
    }

    /// A relay that reports each switch to a stream.
    private struct ToldRelay: Relay {
        let switched: AsyncStream<Bool>.Continuation

        func set(on: Bool) { switched.yield(on) }
    }

    private let directory = TestFolder()
    private let button = PipeButton()

    private func service(_ relay: ToldRelay) throws -> PlugService {
        var appliance = ApplianceConfiguration()
        appliance.debounce = .zero
        appliance.doublePressWindow = .zero
        let settings = PlugSettings(
            name: "Lamp", directories: directory.directories, interfaces: ["lo"], appliance: appliance,
            parts: PlugParts(relay: relay, button: button))
        return try PlugService(
            settings, on: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("Edges that are read from a descriptor switch the relay") func edgesThatAreReadMoveTheRelay() async throws {
        let (moves, switched) = AsyncStream<Bool>.makeStream()
        let service = try service(ToldRelay(switched: switched))
        await service.start()
        button.write([1, 0])
        #expect(await moves.first { $0 } == true)
        await service.stop()
        #expect(button.failures.withLock { $0 }.isEmpty, "a requested stop is not reported as a failure")
    }

    @Test("A button that fails is reported once, and the plug schedules another attempt to watch it")
    func aButtonThatFailsIsToldOnceAndAskedAgain() async throws {
        let (moves, switched) = AsyncStream<Bool>.makeStream()
        let service = try service(ToldRelay(switched: switched))
        await service.start()
        button.write([1, 0, 9])
        #expect(await moves.first { $0 } == true)
        while await service.isTriedAgain("watch the button") == false {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(button.failures.withLock { $0 } == [ENODEV])
        #expect(await service.fault(of: "watch the button") == HardwareFault(part: "button", reason: "gone"))
        await service.stop()
    }
}

extension PlugService {
    fileprivate func isTriedAgain(_ what: String) -> Bool { faults.unfinished[what] != nil }

    fileprivate func fault(of what: String) -> HardwareFault? { faults.all.first { $0.what == what }?.fault }
}
