import Daemon
import Foundation
import LinuxSystem
import PlugClient
import PlugModel
import PlugTransport
import PowerHistory
import ProtocolCore
import RuleModel
import Scripting

/// A plug in its own process, and rules in this process that turn it on when its button is pressed.
struct RuledPlug {
    /// The nanoseconds until the command is passed to the connection.
    struct Times {
        /// The time from the moment in which the rules handle the event.
        var event: Double
        /// The time from the plug's timestamp of the press.
        var press: Double
    }

    /// The folder with the files of both sides, which ``finish()`` removes.
    let directory: String
    let runner: RuleRunner
    private let process: ChildProcess
    private var events: FollowedPlugEvents
    private let running: Task<Void, Never>
    private let reading: Task<Void, Never>
    private var records: AsyncStream<RunnerRecord>.AsyncIterator

    /// - Parameters:
    ///   - keeps: true if the rules store their state and a history.
    ///   - byScript: true if a script answers instead of a rule.
    ///   - others: further plugs with which the controller is paired.
    init(keeps: Bool, byScript: Bool = false, others: [PairedPlugs.Entry] = []) async throws {
        let name = "Benchmark \(getpid())"
        directory = try Self.directory()
        process = try Peer.start(.plug, [name, directory + "/plug", "1000"])
        for plug in others { try await PairedPlugs(directory: directory + "/controller").add(plug) }
        events = try await FollowedPlugEvents(
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
        let recorder = try keeps ? Self.recorder(directory + "/history", on: events.client) : nil
        let runner = RuleRunner(
            set, client: events.client, store: store, scripts: pool, recorder: recorder)
        self.runner = runner
        running = Task { await runner.run() }
        // Reads all records as soon as they arrive, because unread records would delay the reports of other plugs.
        let (records, continuation) = AsyncStream.makeStream(of: RunnerRecord.self)
        reading = Task {
            for await record in runner.records {
                switch record.notice {
                case .following, .commanded: continuation.yield(record)
                default: break
                }
            }
            continuation.finish()
        }
        self.records = records.makeAsyncIterator()
        while let record = await self.records.next() {
            if case .following(plugs: _, newest: name) = record.notice { break }
        }
    }

    /// Presses the button and waits for the rule's command.
    mutating func press() async throws -> Times {
        // During this pause the plug becomes idle, as between the presses of a user.
        try await Task.sleep(for: .milliseconds(20))
        try process.write([MeasuredPlug.push])
        var sent: (at: Int64, taken: Instant)?
        while sent == nil, let record = await records.next() {
            if case .commanded(_, let firing) = record.notice {
                sent = (record.at.nanosecondsSince1970, firing.time)
            }
        }
        guard let sent else { throw BenchmarkError("the rules ended while they were measured") }
        let press = try await pressed()
        return Times(event: Double(sent.at - onTheWall(sent.taken)), press: Double(sent.at - onTheWall(press)))
    }

    mutating func finish() async throws {
        running.cancel()
        await reading.value
        await running.value
        await events.stop()
        process.finish()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// A script with the same trigger and action as the rule.
    private static func source(_ plug: String) -> String {
        """
        on("\(plug)", "button", "single", function() plug("\(plug)"):on() end)
        """
    }

    private static func recorder(_ path: String, on client: PlugClient) throws -> Recorder {
        try Recorder(try PowerHistory(path, role: .recorder), on: client.eventLoop) { _ in }
    }

    /// Returns a folder next to this program. A temporary folder may be in memory, where synchronising costs nothing.
    /// - Throws: ``BenchmarkError`` if the folder's file system is in memory.
    private static func directory() throws -> String {
        guard let program = Bundle.main.executableURL else {
            throw BenchmarkError("the path of this program is unknown")
        }
        let folder = program.deletingLastPathComponent().path
        // Each line has the device, the mount point and the type. The longest mount point that contains the folder
        // applies. If two lines have this mount point, the later one applies.
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
    private mutating func pressed() async throws -> Instant {
        while true {
            let event = try await events.next()
            if case .buttonPressed = event.kind { return event.time }
        }
    }

    private func onTheWall(_ instant: Instant) -> Int64 {
        instant.nanoseconds + (WallTime.now.nanosecondsSince1970 - BootClock.now.nanoseconds)
    }
}
