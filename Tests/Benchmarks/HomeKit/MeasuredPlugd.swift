import Foundation
import LinuxClocks
import ProtocolCore

/// A `plugd` as it is shipped, with simulated parts, on loopback.
struct MeasuredPlugd {
    private static let patience = Duration.seconds(20)

    private let state: String
    private let process: ChildProcess

    private static func program() throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: own).deletingLastPathComponent().appending(path: "plugd").path
    }

    /// - Parameter name: of a plug that nothing else on this machine bears; nil where nobody looks for it.
    init(_ state: String, named name: String? = nil, _ options: [String]) throws {
        self.state = state
        let options = (name.map { ["--name", $0] } ?? []) + options
        let words = ["run", "--state", state, "--simulate", "lamp", "--interface", "lo", "--addressing", "observe"]
        process = try ChildProcess(Self.program(), words + ["--log-level", "error"] + options)
    }

    /// Waits until `plugd status` says it.
    func says(_ wanted: (String) -> Bool) throws {
        let end = BootClock.now + Self.patience
        while BootClock.now < end {
            let asking = try ChildProcess(Self.program(), ["status", "--state", state])
            let line = asking.line()
            asking.finish()
            if let line, wanted(line) { return }
            Thread.sleep(forTimeInterval: 0.2)
        }
        throw Complaint("plugd in \(state) does not say what was waited for")
    }

    /// kB.
    var anonymous: Double { get throws { try process.anonymousMemory } }

    /// Presses its button once, by its panel.
    func press() throws { try ChildProcess(Self.program(), ["press", "--state", state]).finish() }

    func stop() { process.terminate() }
}
