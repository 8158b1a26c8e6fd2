import Foundation
import LinuxSystem
import ProtocolCore

/// A `plugd` of the release build with simulated parts, on loopback.
struct MeasuredPlugd {
    private static let patience = Duration.seconds(20)

    private let state: String
    private let process: ChildProcess

    private static func program() throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: own).deletingLastPathComponent().appending(path: "plugd").path
    }

    /// - Parameter name: a plug name that is unique on this machine, or nil if no client browses for the plug.
    init(_ state: String, named name: String? = nil, _ options: [String]) throws {
        self.state = state
        let options = (name.map { ["--name", $0] } ?? []) + options
        let words = ["run", "--state", state, "--simulate", "lamp", "--interface", "lo", "--addressing", "observe"]
        process = try ChildProcess(Self.program(), words + ["--log-level", "error"] + options)
    }

    /// Waits up to 20 s for a line of `plugd status` that `wanted` accepts.
    /// - Throws: ``BenchmarkError`` after 20 s.
    func says(_ wanted: (String) -> Bool) throws {
        let end = BootClock.now + Self.patience
        while BootClock.now < end {
            let asking = try ChildProcess(Self.program(), ["status", "--state", state])
            let line = asking.line()
            asking.finish()
            if let line, wanted(line) { return }
            Thread.sleep(forTimeInterval: 0.2)
        }
        throw BenchmarkError("plugd in \(state) did not report the expected status")
    }

    /// The anonymous memory in kB.
    var anonymous: Double { get throws { try process.anonymousMemory } }

    /// Presses the button once, through the panel socket.
    func press() throws { try ChildProcess(Self.program(), ["press", "--state", state]).finish() }

    func stop() { process.terminate() }
}
