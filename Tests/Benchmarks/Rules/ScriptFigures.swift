import DurableRules
import Foundation
import LinuxSystem
import PlugModel
import ProtocolCore
import Scripting

/// Measures many events through one script, which the rule engine of the daemon calls, and the memory of the script's
/// process.
struct ScriptFigures {
    /// Events per second.
    private static let pace = 1000
    private static let seconds = 5
    /// The limit of additional anonymous memory in kB, which an allocator may keep for reuse.
    private static let growth = 256.0

    /// A script that changes its state and writes a line to its log in each call, so that a call has its full cost.
    private static let source = """
        on("Switch", "button", "single", function(event)
          state.presses = (state.presses or 0) + 1
          log(event.id)
        end)
        """

    func figures() async throws -> [Figure] {
        let script = try ScriptReader(host: try ScriptHost.path()).read(
            name: "presses.lua", source: Self.source, time: .now)
        let pool = ScriptPool(host: try ScriptHost.path())
        await pool.replace([script], states: [:])
        for await notice in pool.notices { if case .runs = notice { break } }
        try await Task.sleep(for: .seconds(1))
        let process = try Self.process()
        let idle = try ChildProcess.anonymousMemory(of: process)
        var run = ManyPresses(script, pool)
        try await run.press(Self.pace)
        let before = try ChildProcess.anonymousMemory(of: process)
        try await run.press(Self.pace * Self.seconds)
        let after = try ChildProcess.anonymousMemory(of: process)
        await pool.end()
        let pressed = Self.pace * (Self.seconds + 1)
        let all = "\(Self.pace) events a second through a script for \(Self.seconds) s"
        return [
            Figure("a script's idle process, anonymous memory", idle / 1000, "MB", .atMost(3)),
            Figure("\(all): missing in its state at the end", Double(pressed - run.counted), "", .within(0...0)),
            Figure("the same, its anonymous memory", after / 1000, "MB"),
            Figure(
                "the same, growth after the first second", max(0, after - before) / 1000, "MB",
                .atMost(Self.growth / 1000)),
        ] + Distribution(run.times).figures("the same, from the event to its handled answer")
    }

    /// Returns the id of the script's process, which must be the only one.
    private static func process() throws -> String {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        let children = threads.flatMap { thread in
            let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/children", encoding: .utf8)
            return (text ?? "").split(separator: " ").map(String.init)
        }
        let found = children.filter { child in
            (try? String(contentsOfFile: "/proc/\(child)/comm", encoding: .utf8)) == ScriptHost.program + "\n"
        }
        guard found.count == 1, let only = found.first else {
            throw BenchmarkError("\(found.count) processes run scripts instead of one")
        }
        return only
    }
}

/// Presses of a simulated plug, and the rules that handle them. Each store action is confirmed at once.
private struct ManyPresses {
    private let pool: ScriptPool
    private var rules: DurableRuleEngine
    private var sequence: SequenceNumber = 0
    private let boot: BootID
    /// The nanoseconds from each press to the outcome of its call.
    private(set) var times: [Double] = []
    /// The number of presses that the script counted.
    private(set) var counted = 0
    /// The times of the presses, in their order.
    private var pressed: [Instant] = []
    private var answered = 0
    private let scriptName: String

    init(_ script: Script, _ pool: ScriptPool) {
        guard let boot = BootID(bytes: 0..<16), let id = PlugID(rawValue: "0123456789ab") else {
            preconditionFailure("the ids of the simulated plug are valid")
        }
        (self.pool, self.boot, scriptName) = (pool, boot, script.name)
        rules = DurableRuleEngine(rules: script.rules, now: BootClock.now)
        _ = rules.handle(.connected(plug: "Switch", id: id, boot: boot), now: BootClock.now)
        _ = rules.handle(.following(plug: "Switch", after: 0), now: BootClock.now)
        _ = rules.handle(.snapshot(plug: "Switch", PlugState(relayOn: true)), now: BootClock.now)
        _ = rules.handle(.stored, now: BootClock.now)
    }

    /// Presses the button 1,000 times per second, and returns after all calls are answered. If a call takes longer than
    /// 1 ms, the delayed presses follow at once.
    mutating func press(_ count: Int) async throws {
        let begin = BootClock.now
        var done = 0
        while done < count || answered < pressed.count {
            guard BootClock.now - begin < .seconds(60) else {
                throw BenchmarkError("\(pressed.count - answered) calls are not answered")
            }
            while done < count, begin + .milliseconds(done) <= BootClock.now {
                sequence += 1
                done += 1
                pressed.append(BootClock.now)
                let press = PlugEvent(sequence: sequence, boot: boot, time: .zero, kind: .buttonPressed(.single))
                await perform(rules.handle(.event(plug: "Switch", press, age: .zero), now: BootClock.now))
            }
            if let due = rules.nextDeadline, due <= BootClock.now {
                await perform(rules.handle(.deadlineReached, now: BootClock.now))
            } else if answered == pressed.count {
                try await Task.sleep(for: .microseconds(200))
            }
        }
        let state = rules.scriptState(of: scriptName) ?? "{}"
        counted = try JSONDecoder().decode(State.self, from: Data(state.utf8)).presses
    }

    private struct State: Decodable {
        var presses: Int
    }

    private mutating func perform(_ actions: [DurableRuleAction]) async {
        var queue = actions
        var next = 0
        while next < queue.count {
            let action = queue[next]
            next += 1
            switch action {
            case .store: queue += rules.handle(.stored, now: BootClock.now)
            case .call(let call, let plugs):
                let state = rules.scriptState(of: scriptName)
                guard let outcome = await pool.call(call, plugs: plugs, state: state, time: .now) else { continue }
                if answered < pressed.count {
                    times.append(Double((BootClock.now - pressed[answered]).wholeNanoseconds))
                    answered += 1
                }
                queue += rules.handle(.callFinished(call.id, outcome), now: BootClock.now)
            case .send, .perform, .withdraw, .acknowledge, .tell: break
            }
        }
    }
}
