import Appliance
import Foundation
import LinuxClocks
import Logging
import PlugHardware
import PlugService

/// A plug as `plugd` runs it, on loopback, whose button is pushed by whoever writes to its standard input. It does not wait
/// for the contact to settle: what is measured begins after that.
enum MeasuredPlug {
    /// One push and release.
    static let push = UInt8(ascii: "p")
    /// Pushes in a row.
    static let burst = UInt8(ascii: "b")
    /// Says when the button was let go last and when the relay was set, on standard output.
    static let times = UInt8(ascii: "t")
    static let burstPushes = 256
    /// The relay turns over, and the press is told.
    static let eventsAPush = 2

    /// - Parameters:
    ///   - directory: where it keeps its files, its setup code among them.
    ///   - interval: between two readings of its meter.
    static func run(named name: String, in directory: String, metering interval: Duration) async throws {
        // As /run is.
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
