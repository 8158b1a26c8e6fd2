import Appliance
import Foundation
import LinuxSystem
import Logging
import PlugHardware
import PlugModel
import PlugTransport
import Storage
import TestSupport
import Testing

@testable import PlugService

/// Tests of a factory reset of a running plug and of one that does not run.
@Suite(.timeLimit(.minutes(1))) struct ResetTests {
    private let directory = TestFolder()
    private let log = CollectedLog()

    private var settings: PlugSettings {
        let parts = SimulatedPlug(load: .fixed(deciwatts: 600), seed: 1, clock: { BootClock.now })
        return PlugSettings(
            name: "Lamp", directories: directory.directories, interfaces: ["lo"], appliance: ApplianceConfiguration(),
            parts: parts.parts(dimmable: false), simulated: parts)
    }

    /// Returns the answer of the panel as soon as the plug runs.
    private func status() async throws -> String {
        while true {
            try Task.checkCancellation()
            if let answer = try? await PanelClient.ask(.status, at: directory.directories) { return answer }
        }
    }

    @Test("A reset of a running plug replaces its key and keeps its id and setup code")
    func aRunningPlugGoesOnAsAnotherOne() async throws {
        try directory.pair(with: TransportIdentity())
        let (stops, stop) = AsyncStream<Void>.makeStream()
        let running = Task { [settings, log] in
            try await PlugService.run(settings, logger: Logger(label: "test") { _ in log.handler }) {
                for await _ in stops { break }
            }
        }
        _ = try await status()
        let kept = ["id", "setup-code"].map { directory.text($0) }
        let key = try #require(directory.text("key"))
        #expect(try await PlugReset.perform(at: directory.directories) == "reset to factory state")
        // The plug answers before it performs the reset.
        while directory.text("key") == key || directory.text("key") == nil { _ = try await status() }
        #expect(directory.text("controllers") == nil && directory.text("reset") == nil)
        #expect(["id", "setup-code"].map { directory.text($0) } == kept)
        #expect(try await status().contains(#""relay":"off""#))
        #expect(log.text.contains("reset to factory state"))
        stop.yield()
        try await running.value
        #expect(directory.text("sequence") != nil)
    }

    @Test("A failed reset is reported at the panel") func oneThatCannotBeResetSaysSoAtThePanel() async throws {
        let plug = try await RunningPlug()
        // A directory blocks the path of the file that orders the reset.
        try FileManager.default.createDirectory(
            atPath: plug.directory.path + "/reset.new/in", withIntermediateDirectories: true)
        let error = await #expect(throws: PanelError.self) { try await plug.ask(.reset) }
        #expect(error?.description == "the plug was not reset: its flash cannot be written\nhint: see the plug's log")
        #expect(await plug.service.machine.access.controllers.all.count == 1)
        #expect(try await plug.ask(.status).contains(#""relay":"off""#))
        await plug.stop()
    }

    @Test("A reset of a plug that does not run deletes its key, pairings, state and mirror, not its id and setup code")
    func aPlugThatDoesNotRunIsResetByItsFiles() async throws {
        try directory.pair(with: TransportIdentity())
        let service = try PlugService(settings, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        await service.start()
        await service.stop()
        #expect(try await PlugReset.perform(at: directory.directories) == "reset to factory state")
        for file in ["key", "controllers", "state", "run/mirror"] { #expect(directory.text(file) == nil) }
        #expect(directory.text("id") != nil && directory.text("setup-code") != nil)
    }

    @Test("The files of a directory without a plug are not changed")
    func aDirectoryThatIsNoPlugsLosesNothing() async throws {
        try directory.write("mine", to: "key")
        let error = await #expect(throws: NoPlugError.self) {
            try await PlugReset.perform(at: directory.directories)
        }
        #expect(
            error?.description == """
                \(directory.path) has no plug id, so nothing was reset
                hint: check that this is the plug's --state directory
                """)
        #expect(directory.text("key") == "mine")
    }
}
