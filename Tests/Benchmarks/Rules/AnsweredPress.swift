import Automation
import Daemon
import Foundation
import LinuxClocks
import PlugClient
import PlugTransport
import PowerHistory
import ProtocolCore
import Scripting

/// A script commands so often in a minute.
private let pressesOfScript = ScriptLimits.commands

/// From the event, as the runner takes it, to the command of the rule that it fires, with the daemon's own runner over loopback: as the
/// daemon does it, with everything stored before it is sent, and synchronised to the disk, and a history that is written beside. Beside
/// it the same from the press's time at the plug, which is a process of its own; and, to see what of it is the disk's, with nothing stored. A script is
/// asked for the same in its own process, which is stored before and after.
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

/// A plug in its own process, and rules that hear it in this one.
private struct AnsweredPresses {
    let keeps: Bool
    var byScript = false

    /// Nanoseconds to the command's being handed to the connection.
    struct Times {
        /// From the moment in which the rules took the event.
        var event: Double
        /// From the plug's time of the press.
        var press: Double
    }

    /// - Parameter disk: gets for each press, in nanoseconds, how long the disk takes for the same bytes without anything else: they
    ///   are written beside what is stored, in turn with the presses, and replaced and synchronised as it is.
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
        // No finger presses so often, and what is usual would hold most of them back.
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
            // As apart as a quick finger's.
            try await Task.sleep(for: .milliseconds(20))
            try process.write([MeasuredPlug.push])
            var sent: (at: Int64, taken: Instant)?
            while sent == nil, let record = await records.next() {
                if case .commanded(_, let firing) = record.notice {
                    sent = (record.at.nanosecondsSince1970, firing.time)
                }
            }
            guard let sent else { throw Complaint("the rules ended while they were measured") }
            let press = try await pressed(&events)
            times.append(
                Times(event: Double(sent.at - onTheWall(sent.taken)), press: Double(sent.at - onTheWall(press))))
            if keeps {
                // What the command's answer has stored must not be in the way.
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

    /// Nanoseconds in which as many bytes as a file has are written to another place, where they replace what was there.
    private static func replaceBare(_ place: String, as file: String) throws -> Double {
        let bytes = [UInt8](repeating: 7, count: Int(try fileSize(file)))
        let began = BootClock.now
        let descriptor = open(place + ".new", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count, fdatasync(descriptor) == 0,
            close(descriptor) == 0, rename(place + ".new", place) == 0
        else { throw Complaint("\(place) cannot be written: \(String(cString: strerror(errno)))") }
        let folder = open(URL(filePath: place).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY)
        guard folder >= 0, fsync(folder) == 0, close(folder) == 0 else {
            throw Complaint("the folder of \(place) cannot be synchronised: \(String(cString: strerror(errno)))")
        }
        return Double((BootClock.now - began).wholeNanoseconds)
    }

    /// The same as the rule.
    private static func source(_ plug: String) -> String {
        """
        on("\(plug)", "button", "single", function() plug("\(plug)"):on() end)
        """
    }

    private func recorder(_ path: String, on client: PlugClient) throws -> Recorder {
        try Recorder(try PowerHistory(path, role: .recorder), on: client.eventLoop) { _ in }
    }

    /// Beside the program: what is temporary may lie in memory, where to synchronise costs nothing.
    private static func directory() throws -> String {
        guard let program = Bundle.main.executableURL else { throw Complaint("nobody knows where this program lies") }
        let folder = program.deletingLastPathComponent().path
        // Of each line: what is mounted, where, as what. The longest path that leads there is the one; of two the later.
        var found = (path: "", system: "")
        for line in try String(contentsOfFile: "/proc/self/mounts", encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count > 2, words[1].count >= found.path.count else { continue }
            let below = words[1] == "/" ? "/" : words[1] + "/"
            if (folder + "/").hasPrefix(below) { found = (words[1], words[2]) }
        }
        guard !["", "tmpfs", "ramfs"].contains(found.system) else {
            throw Complaint("\(folder) lies in memory\nhint: build where files lie on a disk")
        }
        return folder + "/benchmark-\(getpid())"
    }

    /// The time of the next press; the plug is on this machine, and has its clock.
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
