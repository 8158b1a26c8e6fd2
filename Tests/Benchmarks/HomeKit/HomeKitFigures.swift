import Foundation
import LinuxSystem
import PlugClient
import PlugModel
import PlugTransport
import ProtocolCore
import TestSupport

/// Measures the HomeKit server of `plugd` against an accessory of HAP-python and against the plug protocol.
@Sendable
func homeKitFigures(_ setting: Setting) async throws -> [Figure] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "homekit-\(getpid())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let theirs = try ReferenceAccessory(folder: folder)
    defer { theirs.stop() }
    var bench = try await HomeKitBench(folder: folder, theirs: theirs)
    var figures = try await bench.figures(setting)
    bench.stop()
    figures += try HomeKitMemory(folder: folder).figures()
    return figures
}

/// An outlet of HAP-python in its own process.
private struct ReferenceAccessory {
    static let code = "518-08-582"
    let process: ChildProcess
    let port: Int
    /// The instance id of its On characteristic.
    let on: Int

    init(folder: String) throws {
        process = try ChildProcess(
            ".build-python/bin/python",
            ["Tests/BenchmarkReferences/hap_accessory.py", Self.code, folder + "/hap.state"])
        let numbers = process.line()?.split(separator: " ").compactMap { Int($0) } ?? []
        guard numbers.count == 2 else { throw BenchmarkError("HAP-python did not start") }
        (port, on) = (numbers[0], numbers[1])
    }

    func stop() { process.terminate() }
}

private struct HomeKitBench {
    private static let on = 33
    private static let press = 65

    private let plug: MeasuredPlugd
    private let port: Int
    private var own: FollowedPlugEvents
    private let controller: SimulatedController
    private let theirController: SimulatedController
    private let theirs: ReferenceAccessory

    init(folder: String, theirs: ReferenceAccessory) async throws {
        let name = "Benchmark \(getpid())"
        port = 10_000 + Int(getpid()) % 10_000
        let state = folder + "/plug"
        plug = try MeasuredPlugd(state, named: name, ["--config", try homeKitFile(folder, port: port)])
        try plug.says { $0.contains("\"deviceID\"") }
        own = try await FollowedPlugEvents(
            of: name, state: state, directory: folder + "/controller", as: TransportIdentity(), followsState: false)
        let label = try String(contentsOfFile: state + "/homekit-code", encoding: .utf8)
        controller = try HomeKitCaller.pair(port: port, code: String(label.prefix(10)))
        theirController = try HomeKitCaller.pair(port: theirs.port, code: ReferenceAccessory.code)
        self.theirs = theirs
    }

    func stop() { plug.stop() }

    mutating func figures(_ setting: Setting) async throws -> [Figure] {
        let ours = try session()
        let reference = try HomeKitCaller(port: theirs.port)
        try reference.verify(theirController)
        var (hap, door, python, protocolTimes): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for round in 0..<setting.times(300, few: 20) {
            hap.append(try time { door.append(try ours.put(Self.on, "\"value\":true")) })
            _ = try await own.next()
            python.append(try reference.put(theirs.on, "\"value\":\(round.isMultiple(of: 2))"))
            let began = BootClock.now
            try await own.plug.send(.setRelay(on: false, autoOff: nil))
            protocolTimes.append(Double((BootClock.now - began).wholeNanoseconds))
            _ = try await own.next()
        }
        let presses = try await presses(setting.times(40, few: 4))
        let verified = try verifications(setting.times(60, few: 5))
        return [
            row("On, until the accessory answers", door, "HAP-python", python, .ratioAtMost(1.0 / 3)),
            row("On, sent to answered", hap, "own protocol", protocolTimes, .ratioAtMost(1.5)),
            row("press, recorded to event", presses.homeKit, "own protocol", presses.own, .ratioAtMost(1.5)),
            row(
                "connection to first read, time of the accessory", verified.ours, "HAP-python", verified.theirs,
                .ratioAtMost(1.0 / 3)),
            try await flooded(ours, count: setting.times(6000, few: 2000)),
        ]
    }

    private func session() throws -> HomeKitCaller {
        let caller = try HomeKitCaller(port: port)
        try caller.verify(controller)
        return caller
    }

    private func row(
        _ name: String, _ times: [Double], _ reference: String, _ others: [Double], _ bar: Figure.Bar
    ) -> Figure {
        Figure(
            name, times.median / 1000, "µs", against: .init(name: reference, value: others.median / 1000), bar)
    }

    private func time(_ work: () throws -> Void) rethrows -> Double {
        let began = BootClock.now
        try work()
        return Double((BootClock.now - began).wholeNanoseconds)
    }

    /// Returns the nanoseconds from the plug's timestamp of each press to the arrival of its event by each protocol.
    private mutating func presses(_ count: Int) async throws -> (homeKit: [Double], own: [Double]) {
        let listener = try session()
        try listener.put(Self.press, "\"ev\":true")
        let (events, continuation) = AsyncStream<Instant>.makeStream()
        let box = UncheckedBox(listener)
        Thread.detachNewThread {
            while let event = try? box.value.event() { continuation.yield(event.at) }
            continuation.finish()
        }
        var heard = events.makeAsyncIterator()
        var times: (homeKit: [Double], own: [Double]) = ([], [])
        for _ in 0..<count {
            try plug.press()
            while true {
                let event = try await own.next()
                guard case .buttonPressed = event.kind else { continue }
                times.own.append(Double((BootClock.now - event.time).wholeNanoseconds))
                guard let at = await heard.next() else { throw BenchmarkError("the accessory closed the connection") }
                times.homeKit.append(Double((at - event.time).wholeNanoseconds))
                break
            }
        }
        return times
    }

    private func verifications(_ count: Int) throws -> (ours: [Double], theirs: [Double]) {
        func once(_ port: Int, _ controller: SimulatedController, _ on: Int) throws -> Double {
            let caller = try HomeKitCaller(port: port)
            try caller.verify(controller)
            let answer = try caller.ask("GET", "/characteristics?id=1.\(on)")
            guard answer.status == 200 else { throw BenchmarkError("the accessory answers \(answer.status)") }
            return caller.waited
        }
        var times: (ours: [Double], theirs: [Double]) = ([], [])
        for _ in 0..<count {
            times.ours.append(try once(port, controller, Self.on))
            times.theirs.append(try once(theirs.port, theirController, theirs.on))
            // From the address of a paired controller, the accessory admits 20 connections in quick succession, and
            // then 10 per second.
            Thread.sleep(forTimeInterval: 0.1)
        }
        return times
    }

    /// Measures the commands of a session during 1,000 unpaired connections per second, and before.
    private mutating func flooded(_ session: HomeKitCaller, count: Int) async throws -> Figure {
        let calm = try await commands(count / 60, session)
        let strangers = try Peer.start(.strangers, ["\(port)", "\(count)"])
        // Wait until the unpaired connections have used all places that the accessory has for them.
        try await Task.sleep(for: .seconds(1))
        let times = try await commands(count / 60, session)
        strangers.finish()
        return row("On, 1000 strangers a second", times, "without them", calm, .ratioAtMost(3))
    }

    /// Sends commands 20 ms apart and returns their times in nanoseconds.
    private mutating func commands(_ count: Int, _ session: HomeKitCaller) async throws -> [Double] {
        var times: [Double] = []
        for _ in 0..<count {
            times.append(try session.put(Self.on, "\"value\":\(!own.relayIsOn)"))
            _ = try await own.next()
            try await Task.sleep(for: .milliseconds(20))
        }
        return times
    }
}

/// Passes a value to a different thread. The caller must ensure that only one thread at a time uses it.
private struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

private func homeKitFile(_ folder: String, port: Int) throws -> String {
    let file = "\(folder)/homekit-\(port).toml"
    let text = "[homekit]\nenabled = true\nservice = \"outlet\"\nport = \(port)\n"
    try Data(text.utf8).write(to: URL(filePath: file))
    return file
}

/// Measures the memory that the HomeKit server adds to a plug with eight sessions.
private struct HomeKitMemory {
    private static let plugs = 3
    private static let sessions = 8
    let folder: String

    func figures() throws -> [Figure] {
        let plain = try (0..<Self.plugs).map { try MeasuredPlugd("\(folder)/plain\($0)", []) }
        let first = 20_000 + Int(getpid()) % 10_000
        let doors = try (0..<Self.plugs).map { number in
            try MeasuredPlugd(
                "\(folder)/door\(number)", ["--config", try homeKitFile(folder, port: first + number)])
        }
        defer { for plug in plain + doors { plug.stop() } }
        for plug in plain { try plug.says { _ in true } }
        var sessions: [HomeKitCaller] = []
        for (number, plug) in doors.enumerated() {
            try plug.says { $0.contains("\"deviceID\"") }
            let label = try String(contentsOfFile: "\(folder)/door\(number)/homekit-code", encoding: .utf8)
            let controller = try HomeKitCaller.pair(port: first + number, code: String(label.prefix(10)))
            for _ in 0..<Self.sessions {
                let caller = try HomeKitCaller(port: first + number)
                try caller.verify(controller)
                _ = try caller.ask("GET", "/accessories")
                try caller.put(33, "\"ev\":true")
                sessions.append(caller)
                Thread.sleep(forTimeInterval: 0.2)
            }
        }
        Thread.sleep(forTimeInterval: 3)
        let without = try plain.map { try $0.anonymous }.sorted()[Self.plugs / 2]
        let with = try doors.map { try $0.anonymous }.sorted()[Self.plugs / 2]
        withExtendedLifetime(sessions) {}
        return [
            Figure(
                "plugd with HomeKit and 8 sessions, additional anonymous memory", (with - without) / 1000, "MB",
                .atMost(1))
        ]
    }
}
