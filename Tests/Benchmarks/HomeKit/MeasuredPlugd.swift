import Foundation
import LinuxSystem
import ProtocolCore

/// A `plugd` of the release build with simulated parts, on loopback.
struct MeasuredPlugd {
    private static let patience = Duration.seconds(20)

    private let state: String
    private let process: ChildProcess
    private let counted: CountedProcess?

    private static func program() throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: own).deletingLastPathComponent().appending(path: "plugd").path
    }

    /// - Parameters:
    ///   - name: a plug name that is unique on this machine, or nil if no client browses for the plug.
    ///   - isCounted: true to count the plug's instructions.
    init(_ state: String, named name: String? = nil, isCounted: Bool = false, _ options: [String]) throws {
        self.state = state
        let options = (name.map { ["--name", $0] } ?? []) + options
        let words = ["run", "--state", state, "--simulate", "lamp", "--interface", "lo", "--addressing", "observe"]
        let command = [try Self.program()] + words + ["--log-level", "error"] + options
        let arguments = Array(command.dropFirst())
        counted =
            isCounted ? try CountedProcess(command[0], arguments, writing: state + ".instructions") : nil
        process = try counted?.process ?? ChildProcess(command[0], arguments)
    }

    /// Waits up to 20 s for a line of `plugd status` that `wanted` accepts.
    /// - Throws: ``BenchmarkError`` after 20 s.
    func says(_ wanted: (String) -> Bool) throws {
        let end = BootClock.now + Self.patience
        while BootClock.now < end {
            guard FileManager.default.fileExists(atPath: state + "/run/panel.sock") else {
                Thread.sleep(forTimeInterval: 0.05)
                continue
            }
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

    /// The number of times that a thread of the plug was woken up.
    var wakeUps: Double { get throws { try process.wakeUps } }

    /// Asks the plug to end, and returns the number of its instructions. They must have been counted.
    func countInstructions() throws -> Double {
        guard let counted else { throw BenchmarkError("the instructions of plugd were not counted") }
        process.interrupt()
        return try counted.count()
    }

    /// Presses the button once, through the panel socket.
    func press() throws { try ChildProcess(Self.program(), ["press", "--state", state]).finish() }

    func stop() { process.terminate() }
}
