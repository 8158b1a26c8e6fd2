import Appliance
import LinuxSystem
import Logging
import PlugHardware
import PlugModel
import TestSupport
import Testing

@testable import PlugService

/// Tests of a plug with Matter in its configuration.
@Suite(.timeLimit(.minutes(1))) struct MatterTests {
    private let directory = TestFolder()
    private let log = CollectedLog()

    private var settings: PlugSettings {
        let parts = SimulatedPlug(load: .fixed(deciwatts: 600), seed: 1, clock: { BootClock.now })
        var settings = PlugSettings(
            name: "Lamp", directories: directory.directories, interfaces: ["lo"], appliance: ApplianceConfiguration(),
            parts: parts.parts(dimmable: false), simulated: parts)
        settings.matter = MatterSettings(credentials: directory.path + "/credentials")
        return settings
    }

    @Test("Without credentials Matter stays off and the plug works; log and status have the reason")
    func missingCredentials() async throws {
        let (stops, stop) = AsyncStream<Void>.makeStream()
        let running = Task { [settings, log] in
            try await PlugService.run(settings, logger: Logger(label: "test") { _ in log.handler }) {
                for await _ in stops { break }
            }
        }
        var status = ""
        while !status.contains("dac.der is missing") {
            try Task.checkCancellation()
            status = (try? await PanelClient.ask(.status, at: directory.directories)) ?? ""
        }
        #expect(status.contains(#""matter":{"fault":"the attestation credentials are incomplete"#), "\(status)")
        #expect(status.contains(#""relay":"off""#))
        #expect(log.text.contains("Matter stays off: the attestation credentials are incomplete"))
        #expect(directory.text("matter") == nil && directory.text("matter-code") == nil)
        stop.yield()
        try await running.value
    }

    @Test("A plug with Matter in its configuration has the capability, and a check names the fault")
    func capability() async throws {
        let service = try PlugService(settings, logger: Logger(label: "test") { _ in log.handler })
        #expect(await service.machine.identity.capabilities.contains(.matter))
        #expect(settings.matter?.fault?.contains("hint: Scripts/matter-credentials") == true)
        await service.start()
        await service.stop()
    }
}
