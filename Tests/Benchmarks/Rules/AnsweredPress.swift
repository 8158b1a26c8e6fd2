import Automation
import Daemon
import Foundation
import LinuxClocks
import PlugClient
import PlugTransport
import PowerHistory
import ProtocolCore
import Scripting

private let presses = 300
/// A script commands so often in a minute.
private let pressesOfScript = ScriptLimits.commands

/// From the event, as the runner takes it, to the command of the rule that it fires, with the daemon's own runner over loopback: as the
/// daemon does it, with everything stored before it is sent, and synchronised to the disk, and a history that is written beside. Beside
/// it the same from the press's time at the plug, which is a process of its own; and, to see what of it is the disk's, with nothing stored. A script is
/// asked for the same in its own process, which is stored before and after.
func answering(_ setting: Setting) async throws -> [Figure] {
    let stored = try await AnsweredPresses(keeps: true).measure(presses)
    let kept = try await AnsweredPresses(keeps: false).measure(presses)
    let script = try await AnsweredPresses(keeps: true, byScript: true).measure(pressesOfScript)
    let events = Distribution(stored.map(\.event))
    return events.figures("event to command sent, stored and synchronised first", .atMost(1000))
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

    func measure(_ count: Int) async throws -> [Times] {
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
        }
        running.cancel()
        while await records.next() != nil {}
        await running.value
        await events.stop()
        return times
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
