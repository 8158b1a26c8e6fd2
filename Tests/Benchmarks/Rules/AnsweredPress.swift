import Automation
import Daemon
import Foundation
import LinuxNetwork
import PlugClient
import PlugTransport
import ProtocolCore

private let presses = 300

/// From a plug's recording of a press to the command of the rule that it fires, with the daemon's own runner over loopback: once with
/// everything stored before it is sent, and synchronised to the disk, and once with nothing stored.
func answering(_ setting: Setting) async throws -> [Figure] {
    let stored = try await AnsweredPresses(keeps: true).measure(presses)
    let kept = try await AnsweredPresses(keeps: false).measure(presses)
    return Distribution(stored).figures("press to command sent, stored and synchronised first")
        + Distribution(kept).figures("press to command sent, nothing stored", .atMost(1000))
}

/// A plug in its own process, and rules that hear it in this one.
private struct AnsweredPresses {
    let keeps: Bool

    /// - Returns: nanoseconds from the plug's time of each press to the command's being handed to the connection.
    func measure(_ count: Int) async throws -> [Double] {
        let name = "Benchmark \(getpid())"
        let directory = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(getpid())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let process = try Peer.start(.plug, [name, directory + "/plug", "1000"])
        defer { process.finish() }
        var events = try await FollowedPlugEvents(
            of: name, state: directory + "/plug", directory: directory + "/controller", as: TransportIdentity(),
            followsState: false)
        let rule = Rule(
            name: "Light", triggers: [.button(plug: name, .single)], actions: [.turnOn([name])])
        let store = try keeps ? RuleStore(directory + "/rules") { _ in } : nil
        let runner = RuleRunner(RuleFileSet(rules: [rule]), client: events.client, store: store)
        let running = Task { await runner.run() }
        var records = runner.records.makeAsyncIterator()
        while let record = await records.next() { if case .following = record.notice { break } }
        var times: [Double] = []
        for _ in 0..<count {
            // As apart as a quick finger's.
            try await Task.sleep(for: .milliseconds(20))
            try process.write([MeasuredPlug.push])
            var sent: Int64?
            while sent == nil, let record = await records.next() {
                if case .commanded = record.notice { sent = record.at.nanosecondsSince1970 }
            }
            guard let sent else { throw Complaint("the rules ended while they were measured") }
            times.append(Double(sent - (try await pressed(&events))))
        }
        running.cancel()
        while await records.next() != nil {}
        await running.value
        await events.stop()
        return times
    }

    /// The wall clock's nanoseconds at the next press; the plug is on this machine, and has its clock.
    private func pressed(_ events: inout FollowedPlugEvents) async throws -> Int64 {
        while true {
            let event = try await events.next()
            guard case .buttonPressed = event.kind else { continue }
            let ahead = WallTime.now.nanosecondsSince1970 - BootClock.now.nanoseconds
            return event.time.nanoseconds + ahead
        }
    }
}
