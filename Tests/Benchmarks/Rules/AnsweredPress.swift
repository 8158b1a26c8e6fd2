import Foundation
import LinuxSystem
import ProtocolCore
import RuleModel
import Scripting

/// The limit of a script's commands per minute.
private let pressesOfScript = ScriptLimits.commands

/// Measures the time from an event to the command of the rule that it fires, with the daemon's `RuleRunner` over
/// loopback. As in the daemon, the runner stores and synchronises the command before it sends it, and a recorder writes
/// the history.
///
/// There are three further figures: the time from the plug's timestamp of the press (the plug is a separate process),
/// the same time without storage, which shows the share of the disk, and the time from the event to the command if a
/// script answers instead of the rule. The runner stores each call of a script before the call starts, and the outcome
/// after the call has ended.
func answering(_ setting: Setting) async throws -> [Figure] {
    let presses = setting.times(300, few: 20)
    var disk: [Double] = []
    let stored = try await AnsweredPresses(keeps: true).measure(presses, disk: &disk)
    var unused: [Double] = []
    let kept = try await AnsweredPresses(keeps: false).measure(presses, disk: &unused)
    let script = try await AnsweredPresses(keeps: true, byScript: true).measure(
        setting.times(pressesOfScript, few: 20), disk: &unused)
    let events = Distribution(stored.map(\.event))
    return events.figures(
        "event to command sent, stored and synchronised first",
        against: ("bare write, fdatasync and rename", Distribution(disk)), .ratioAtMost(1.5))
        + Distribution(script.map(\.event)).figures(
            "the same by a script", against: ("rule", events), .ratioAtMost(3))
        + Distribution(stored.map(\.press)).figures("press at the plug to command sent, the same")
        + Distribution(kept.map(\.press)).figures("press at the plug to command sent, nothing stored")
}

/// Presses that a rule answers, with or without a store.
private struct AnsweredPresses {
    let keeps: Bool
    var byScript = false

    /// - Parameter disk: receives for each press the nanoseconds that the disk needs to replace and synchronise a file
    ///   of the same size in the same folder.
    func measure(_ count: Int, disk: inout [Double]) async throws -> [RuledPlug.Times] {
        var plug = try await RuledPlug(keeps: keeps, byScript: byScript)
        var times: [RuledPlug.Times] = []
        for _ in 0..<count {
            times.append(try await plug.press())
            if keeps {
                // Wait until the command's answer is stored.
                try await Task.sleep(for: .milliseconds(10))
                disk.append(try Self.replaceBare(plug.directory + "/rules/bare", as: plug.directory + "/rules/rules"))
            }
        }
        try await plug.finish()
        return times
    }

    /// Replaces the file at `place` with a new one that has the size of `file`, and returns the nanoseconds.
    /// Synchronises the file and its folder.
    private static func replaceBare(_ place: String, as file: String) throws -> Double {
        let bytes = [UInt8](repeating: 7, count: Int(try fileSize(file)))
        let began = BootClock.now
        let descriptor = open(place + ".new", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count, fdatasync(descriptor) == 0,
            close(descriptor) == 0, rename(place + ".new", place) == 0
        else { throw BenchmarkError("\(place) cannot be written: \(String(cString: strerror(errno)))") }
        let folder = open(URL(filePath: place).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY)
        guard folder >= 0, fsync(folder) == 0, close(folder) == 0 else {
            throw BenchmarkError("the folder of \(place) cannot be synchronised: \(String(cString: strerror(errno)))")
        }
        return Double((BootClock.now - began).wholeNanoseconds)
    }
}
