import Automation
import Daemon
import Foundation
import LinuxClocks
import PlugClient
import PlugTransport
import PowerHistory
import ProtocolCore
import Scripting

/// The limit of a script's commands per minute.
private let pressesOfScript = ScriptLimits.commands

/// Measures the time from an event to the command of the rule that it fires, with the daemon's `RuleRunner` over
/// loopback. As in the daemon, the runner stores and synchronises the command before it sends it, and a recorder writes
/// the history.
///
/// Further figures are the time from the plug's timestamp of the press (the plug is a separate process), the same
/// without storage, to show the share of the disk, and the same with a script. A call of a script is stored before and
/// after it.
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

/// A plug in its own process, and rules that follow it in this process.
private struct AnsweredPresses {
    let keeps: Bool
    var byScript = false

    /// The nanoseconds until the command is passed to the connection.
    struct Times {
        /// The time from the moment in which the rules handle the event.
        var event: Double
        /// The time from the plug's timestamp of the press.
        var press: Double
    }

    /// - Parameter disk: receives for each press the nanoseconds that the disk needs to replace and synchronise a file
    ///   of the same size in the same folder.
    func measure(_ count: Int, disk: inout [Double]) async throws -> [Times] {
        let name = "Benchmark \(getpid())"
        let directory = try Self.directory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let process = try Peer.start(.plug, [name, directory + "/plug", "1000"])
        defer { process.finish() }
        var events = try await FollowedPlugEvents(
            of: name, state: directory + "/plug", directory: directory + "/controller", as: TransportIdentity(),
            followsState: false)
        var rule = Rule(
            name: "Light", triggers: [.button(plug: name, .single)], actions: [.turnOn([name])])
        // The default limit would suppress most of these firings.
        rule.limit = FiringLimit(1000, within: .seconds(1))
        var set = RuleFileSet(rules: [rule])
        var pool: ScriptPool?
        if byScript {
            let script = try ScriptReader(host: try ScriptHost.path()).read(
                name: "light.lua", source: Self.source(name), time: .now)
            set = RuleFileSet(rules: script.rules, scripts: [script])
            pool = ScriptPool(host: try ScriptHost.path())
        }
        let store = try keeps ? RuleStore(directory + "/rules") { _ in } : nil
        let recorder = try keeps ? recorder(directory + "/history", on: events.client) : nil
        let runner = RuleRunner(
            set, client: events.client, store: store, scripts: pool, recorder: recorder)
        let running = Task { await runner.run() }
        var records = runner.records.makeAsyncIterator()
        while let record = await records.next() { if case .following = record.notice { break } }
        var times: [Times] = []
        for _ in 0..<count {
            // The pause between quick presses.
            try await Task.sleep(for: .milliseconds(20))
            try process.write([MeasuredPlug.push])
            var sent: (at: Int64, taken: Instant)?
            while sent == nil, let record = await records.next() {
                if case .commanded(_, let firing) = record.notice {
                    sent = (record.at.nanosecondsSince1970, firing.time)
                }
            }
            guard let sent else { throw BenchmarkError("the rules ended while they were measured") }
            let press = try await pressed(&events)
            times.append(
                Times(event: Double(sent.at - onTheWall(sent.taken)), press: Double(sent.at - onTheWall(press))))
            if keeps {
                // Wait until the command's answer is stored.
                try await Task.sleep(for: .milliseconds(10))
                disk.append(try Self.replaceBare(directory + "/rules/bare", as: directory + "/rules/rules"))
            }
        }
        running.cancel()
        while await records.next() != nil {}
        await running.value
        await events.stop()
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

    /// A script with the same trigger and action as the rule.
    private static func source(_ plug: String) -> String {
        """
        on("\(plug)", "button", "single", function() plug("\(plug)"):on() end)
        """
    }

    private func recorder(_ path: String, on client: PlugClient) throws -> Recorder {
        try Recorder(try PowerHistory(path, role: .recorder), on: client.eventLoop) { _ in }
    }

    /// Returns a folder next to this program. A temporary folder may be in memory, where synchronising costs nothing.
    /// - Throws: ``BenchmarkError`` if the folder's file system is in memory.
    private static func directory() throws -> String {
        guard let program = Bundle.main.executableURL else {
            throw BenchmarkError("the path of this program is unknown")
        }
        let folder = program.deletingLastPathComponent().path
        // A line has the device, the mount point and the type. The longest mount point that contains the folder counts;
        // if it occurs twice, the later line.
        var found = (path: "", system: "")
        for line in try String(contentsOfFile: "/proc/self/mounts", encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count > 2, words[1].count >= found.path.count else { continue }
            let below = words[1] == "/" ? "/" : words[1] + "/"
            if (folder + "/").hasPrefix(below) { found = (words[1], words[2]) }
        }
        guard !["", "tmpfs", "ramfs"].contains(found.system) else {
            throw BenchmarkError("\(folder) is in memory\nhint: build in a folder on a disk")
        }
        return folder + "/benchmark-\(getpid())"
    }

    /// Returns the time of the next press. The plug uses the clock of the same machine.
    private func pressed(_ events: inout FollowedPlugEvents) async throws -> Instant {
        while true {
            let event = try await events.next()
            if case .buttonPressed = event.kind { return event.time }
        }
    }

    private func onTheWall(_ instant: Instant) -> Int64 {
        instant.nanoseconds + (WallTime.now.nanosecondsSince1970 - BootClock.now.nanoseconds)
    }
}
