import Appliance
import Foundation
import LinuxSystem
import Logging
import PlugHardware
import PlugService

/// A plug on loopback with the service of `plugd`. Bytes on its standard input push its button. The plug does not
/// debounce the button, because the measured times begin after the debouncing.
enum MeasuredPlug {
    /// The byte for one push and release.
    static let push = UInt8(ascii: "p")
    /// The byte for 256 pushes in a row.
    static let burst = UInt8(ascii: "b")
    /// The byte that prints the times of the last release and of the last setting of the relay on standard output.
    static let times = UInt8(ascii: "t")
    static let burstPushes = 256
    /// The number of events per push: one of the relay and one of the button.
    static let eventsAPush = 2

    /// - Parameters:
    ///   - directory: the state directory, which has the setup code.
    ///   - interval: the interval of the meter.
    static func run(named name: String, in directory: String, metering interval: Duration) async throws {
        // The runtime directory is in memory, like /run on a plug.
        let memory = "/dev/shm/plug-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: memory) }
        var appliance = ApplianceConfiguration()
        appliance.debounce = .zero
        appliance.doublePressWindow = .zero
        appliance.meterInterval = interval
        let parts = SimulatedPlug(load: .fixed(deciwatts: 600), seed: 1, clock: { BootClock.now })
        let button = TimedButton(of: parts)
        let settings = PlugSettings(
            name: name, directories: PlugDirectories(state: directory, runtime: memory), interfaces: ["lo"],
            appliance: appliance, parts: button.parts)
        let service = try PlugService(settings, logger: Logger(label: "plug") { _ in SwiftLogNoOpLogHandler() })
        try await service.run {
            for await order in standardInput() {
                switch order {
                case times: FileHandle.standardOutput.write(Data(button.line.utf8))
                case burst: for _ in 0..<burstPushes { button.push() }
                default: button.push()
                }
            }
        }
    }
}
