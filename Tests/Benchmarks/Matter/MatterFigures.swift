import Foundation
import LinuxSystem
import PlugClient
import PlugModel
import PlugTransport
import ProtocolCore
import TestSupport

/// Measures the Matter device of `plugd` against the plug protocol of the same plug.
@Sendable
func matterFigures(_ setting: Setting) async throws -> [Figure] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "matter-\(getpid())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let settings = try MatterSettings(folder: folder)
    var bench = try await MatterBench(folder: folder, settings)
    var figures = try await bench.figures(setting)
    bench.stop()
    figures += try MatterCost(folder: folder, settings: settings).figures(setting)
    return figures
}

/// A plug with Matter, which both a Matter controller and a controller of the plug protocol follow.
private struct MatterBench {
    private let plug: MeasuredPlugd
    private let port: Int
    private let caller: MatterCaller
    private var listener: AsyncStream<Instant>.AsyncIterator
    private var own: FollowedPlugEvents

    init(folder: String, _ settings: MatterSettings) async throws {
        let name = "Matter \(getpid())"
        port = 10_000 + Int(getpid()) % 10_000
        let state = folder + "/plug"
        plug = try MeasuredPlugd(state, named: name, try settings.options(port: port))
        try plug.says { $0.contains("\"matter\"") }
        own = try await FollowedPlugEvents(
            of: name, state: state, directory: folder + "/controller", as: TransportIdentity(), followsState: false)
        let issuer = try MatterCaller.issuer()
        caller = try MatterCaller(port: port, node: 1, issuer: issuer)
        try settings.commission(plug, state: state, with: caller)
        listener = try Self.presses(port: port, issuer: issuer).makeAsyncIterator()
    }

    /// Starts a second controller, whose thread waits for presses, and returns their times of arrival.
    private static func presses(port: Int, issuer: MatterCertificateIssuer) throws -> AsyncStream<Instant> {
        let caller = try MatterCaller(port: port, node: 2, issuer: issuer)
        try caller.perform(.connect)
        try caller.subscribeToButton()
        let (times, continuation) = AsyncStream<Instant>.makeStream()
        let box = MovedCaller(caller: caller)
        Thread.detachNewThread {
            while let time = try? box.caller.press() { continuation.yield(time) }
            continuation.finish()
        }
        return times
    }

    func stop() { plug.stop() }

    mutating func figures(_ setting: Setting) async throws -> [Figure] {
        let commands = try await commands(setting.times(300, few: 20))
        let presses = try await presses(setting.times(40, few: 4))
        var figures = [
            row("On, sent to answered", commands.matter, "own protocol", commands.own),
            row("press, recorded to event", presses.matter, "own protocol", presses.own),
        ]
        for handshake in MatterStrangers.Handshake.allCases {
            figures += try await flooded(handshake, count: setting.times(9000, few: 3000))
        }
        return figures
    }

    private func row(_ name: String, _ times: [Double], _ reference: String, _ others: [Double]) -> Figure {
        Figure(
            name, times.median / 1000, "µs", against: .init(name: reference, value: others.median / 1000),
            .ratioAtMost(2))
    }

    /// Returns the nanoseconds of commands by each protocol, alternately.
    private mutating func commands(_ count: Int) async throws -> (matter: [Double], own: [Double]) {
        var times: (matter: [Double], own: [Double]) = ([], [])
        for _ in 0..<count {
            times.matter.append(try caller.set(true))
            _ = try await own.next()
            let began = BootClock.now
            try await own.plug.send(.setRelay(on: false, autoOff: nil))
            times.own.append(Double((BootClock.now - began).wholeNanoseconds))
            _ = try await own.next()
        }
        return times
    }

    /// Returns the nanoseconds from the plug's timestamp of each press to the arrival of its event by each protocol.
    private mutating func presses(_ count: Int) async throws -> (matter: [Double], own: [Double]) {
        var times: (matter: [Double], own: [Double]) = ([], [])
        for _ in 0..<count {
            try plug.press()
            while true {
                let event = try await own.next()
                guard case .buttonPressed = event.kind else { continue }
                times.own.append(Double((BootClock.now - event.time).wholeNanoseconds))
                guard let time = await listener.next() else { throw BenchmarkError("the Matter session ended") }
                times.matter.append(Double((time - event.time).wholeNanoseconds))
                break
            }
        }
        return times
    }

    /// Measures the commands and the presses of a session during 1,000 first messages of handshakes per second from
    /// peers without a fabric, and before.
    private mutating func flooded(_ handshake: MatterStrangers.Handshake, count: Int) async throws -> [Figure] {
        _ = try await own.plug.manageMatter(.openWindow(PlugWire.longestMatterWindow))
        let (few, presses) = (max(10, count / 100), max(4, count / 600))
        let calm = (commands: try await spacedCommands(few), presses: try await self.presses(presses).matter)
        let strangers = try Peer.start(.matterStrangers, [handshake.rawValue, "\(port)", "\(count)"])
        // Wait until the peers have used all places that the device has for handshakes.
        try await Task.sleep(for: .seconds(1))
        let commands = try await spacedCommands(few)
        let pressed = try await self.presses(presses).matter
        strangers.finish()
        return [
            row("On, 1000 \(handshake.name) per second", commands, "without them", calm.commands),
            row("press, 1000 \(handshake.name) per second", pressed, "without them", calm.presses),
        ]
    }

    /// Sends commands 20 ms apart and returns their times in nanoseconds.
    private mutating func spacedCommands(_ count: Int) async throws -> [Double] {
        var times: [Double] = []
        for _ in 0..<count {
            times.append(try caller.set(!own.relayIsOn))
            _ = try await own.next()
            try await Task.sleep(for: .milliseconds(20))
        }
        return times
    }
}

/// Passes a caller to the thread that uses it from then on.
private struct MovedCaller: @unchecked Sendable {
    let caller: MatterCaller
}

/// The settings of plugs with Matter, with credentials for tests.
private struct MatterSettings {
    private let folder: String

    init(folder: String) throws {
        self.folder = folder
        let program = try ChildProcess("Scripts/matter-credentials", [folder + "/credentials"])
        while program.line() != nil {}
        program.finish()
        guard FileManager.default.fileExists(atPath: folder + "/credentials/dac.der") else {
            throw BenchmarkError("Scripts/matter-credentials wrote no credentials")
        }
    }

    /// Writes the configuration of a plug with this port, and returns its options.
    func options(port: Int) throws -> [String] {
        let file = "\(folder)/matter-\(port).toml"
        let text = "[matter]\nenabled = true\nport = \(port)\ncredentials = \"\(folder)/credentials\"\n"
        try Data(text.utf8).write(to: URL(filePath: file))
        return ["--config", file]
    }

    /// Waits until a new plug accepts a commissioner, and commissions it. A plug without fabrics opens its window when
    /// it starts.
    func commission(_ plug: MeasuredPlugd, state: String, with caller: MatterCaller) throws {
        try plug.says { $0.contains("\"window\"") }
        // The label begins with the passcode.
        let label = try String(contentsOfFile: state + "/matter-code", encoding: .utf8)
        guard let passcode = label.split(separator: " ").first.flatMap({ UInt32($0) }) else {
            throw BenchmarkError("the plug has no Matter passcode")
        }
        try caller.perform(.commission(passcode: passcode))
    }
}

/// Measures what Matter costs a plug: its share of a commissioning, and the memory and the wake-ups that one fabric and
/// one subscription of 60 s add.
private struct MatterCost {
    private static let plugs = 3
    /// The rate of a small processor core, which executes one instruction per cycle.
    private static let instructionsPerSecond = 1e9
    let folder: String
    let settings: MatterSettings

    func figures(_ setting: Setting) throws -> [Figure] {
        try [commissioning()] + idle(setting)
    }

    /// Counts the instructions of two plugs, of which one is commissioned.
    private func commissioning() throws -> Figure {
        let port = 30_000 + Int(getpid()) % 10_000
        let counts = try [false, true].map { isCommissioned in
            let state = "\(folder)/counted-\(isCommissioned)"
            let plug = try MeasuredPlugd(state, isCounted: true, try settings.options(port: port))
            let caller = try MatterCaller(port: port, node: 1, issuer: try MatterCaller.issuer())
            if isCommissioned {
                try settings.commission(plug, state: state, with: caller)
            } else {
                try plug.says { $0.contains("\"window\"") }
            }
            return try plug.countInstructions()
        }
        return Figure(
            "commissioning, processor time of the plug at 1 GHz", (counts[1] - counts[0]) / Self.instructionsPerSecond,
            "s", .atMost(1.5))
    }

    private func idle(_ setting: Setting) throws -> [Figure] {
        let first = 20_000 + Int(getpid()) % 10_000
        let plain = try (0..<Self.plugs).map { try MeasuredPlugd("\(folder)/plain\($0)", []) }
        let doors = try (0..<Self.plugs).map { number in
            try MeasuredPlugd("\(folder)/door\(number)", try settings.options(port: first + number))
        }
        defer { for plug in plain + doors { plug.stop() } }
        for plug in plain { try plug.says { _ in true } }
        let issuer = try MatterCaller.issuer()
        let callers = try doors.enumerated().map { number, plug in
            let caller = try MatterCaller(port: first + number, node: 1, issuer: issuer)
            try settings.commission(plug, state: "\(folder)/door\(number)", with: caller)
            try caller.subscribeToRelay()
            return caller
        }
        for caller in callers {
            let box = MovedCaller(caller: caller)
            // Confirms the reports of the subscription.
            Thread.detachNewThread { while (try? box.caller.press()) != nil {} }
        }
        Thread.sleep(forTimeInterval: 3)
        let memory = try additional(doors, plain) { try $0.anonymous }
        let before = try (plain + doors).map { try $0.wakeUps }
        // Longer than the time between two reports of the subscription.
        let seconds = setting.times(70, few: 5)
        Thread.sleep(forTimeInterval: Double(seconds))
        let after = try (plain + doors).map { try $0.wakeUps }
        let wakeUps = zip(after, before).map { $0 - $1 }
        let woken =
            Array(wakeUps.dropFirst(Self.plugs)).median - Array(wakeUps.prefix(Self.plugs)).median
        let name = "plugd with Matter, one fabric and one subscription, additional"
        return [
            Figure("\(name) anonymous memory", memory / 1000, "MB", .atMost(2.5)),
            Figure("\(name) wake-ups", woken / Double(seconds), "/s", .atMost(1)),
        ]
    }

    private func additional(
        _ plugs: [MeasuredPlugd], _ others: [MeasuredPlugd], _ value: (MeasuredPlugd) throws -> Double
    ) rethrows -> Double {
        try plugs.map(value).median - others.map(value).median
    }
}
