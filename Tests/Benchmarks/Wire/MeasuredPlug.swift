import Appliance
import Foundation
import LinuxNetwork
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
    static let burstPushes = 256
    /// The relay turns over, and the press is told.
    static let eventsAPush = 2

    /// - Parameter directory: where it keeps its files, its setup code among them.
    static func run(named name: String, in directory: String) async throws {
        // As /run is.
        let memory = "/dev/shm/plug-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: memory) }
        var appliance = ApplianceConfiguration()
        appliance.debounce = .zero
        appliance.doublePressWindow = .zero
        let parts = SimulatedPlug(load: .fixed(deciwatts: 600), seed: 1, clock: { BootClock.now })
        let settings = PlugSettings(
            name: name, directories: PlugDirectories(state: directory, runtime: memory), interfaces: ["lo"],
            appliance: appliance, parts: parts.parts(dimmable: false))
        let service = try PlugService(settings, logger: Logger(label: "plug") { _ in SwiftLogNoOpLogHandler() })
        try await service.run {
            for await order in standardInput() {
                for _ in 0..<(order == burst ? burstPushes : 1) {
                    parts.moveButton(down: true)
                    parts.moveButton(down: false)
                }
            }
        }
    }
}
