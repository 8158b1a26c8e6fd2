import Foundation
import LinuxSystem
import Logging
import PlugClient
import PlugModel
import PlugTransport
import ProtocolCore

/// A ``MeasuredPlug`` in its own process, and a controller in this process that follows it.
struct FollowedPeer {
    private let process: ChildProcess
    private let counted: CountedProcess?
    private var events: FollowedPlugEvents
    /// The folder with the files of the plug and of the controller, which ``finish()`` removes.
    private let directory: String
    /// The controller's key and certificate.
    let identity = TransportIdentity()

    /// - Parameters:
    ///   - name: a plug name that is unique on this machine.
    ///   - followsState: true to subscribe to states too, which carry readings and the relay's state.
    ///   - milliseconds: the interval of the meter.
    ///   - file: a new file in which valgrind counts the plug's instructions; nil to run the plug without valgrind.
    init(
        named name: String, followsState: Bool, metersEvery milliseconds: Int = 1000, countingIn file: String? = nil
    ) async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(getpid())").path
        let arguments = [name, directory + "/plug", "\(milliseconds)"]
        counted = try file.map { try CountedProcess(Peer.program(), Peer.words(.plug, arguments), writing: $0) }
        process = try counted?.process ?? Peer.start(.plug, arguments)
        events = try await FollowedPlugEvents(
            of: name, state: directory + "/plug", directory: directory, as: identity, followsState: followsState)
    }

    /// Invites and pairs a second controller as a viewer, and returns its identity.
    func pairViewer() async throws -> TransportIdentity {
        let identity = TransportIdentity()
        let viewer = PlugClient(
            name: "viewer", identity: identity, paired: PairedPlugs(directory: directory + "/viewer"),
            interfaces: ["lo"], logger: Logger(label: "viewer") { _ in SwiftLogNoOpLogHandler() })
        var random = SystemRandomNumberGenerator()
        let code = SetupCode(drawnFrom: &random)
        guard try await events.plug.invite(with: code, as: Grant(.viewer)) != nil else {
            throw BenchmarkError("the plug did not accept the invitation")
        }
        _ = try await viewer.find(events.plug.name, within: .seconds(10))
        _ = try await viewer.pair(events.plug.name, code: code)
        await viewer.stop()
        return identity
    }

    /// The anonymous memory of the plug's process in kB.
    var anonymousMemory: Double { get throws { try process.anonymousMemory } }

    /// Returns the TCP port of the plug.
    func port() async throws -> Int { Int(try await events.client.resolve(events.plug.name).port) }

    /// Pushes the button once.
    /// - Returns: the nanoseconds from the plug's timestamp of each event to its arrival.
    mutating func push() async throws -> [Double] {
        try process.write([MeasuredPlug.push])
        var delays: [Double] = []
        while delays.count < MeasuredPlug.eventsAPush {
            let event = try await events.next()
            delays.append(Double((BootClock.now - event.time).wholeNanoseconds))
        }
        return delays
    }

    /// Pushes the button once.
    /// - Returns: the nanoseconds from the release to the setting of the relay, and to the arrival of the relay's
    ///   event.
    mutating func timedPush() async throws -> (relay: Double, event: Double) {
        try process.write([MeasuredPlug.push])
        var heard: Instant?
        for _ in 0..<MeasuredPlug.eventsAPush {
            let event = try await events.next()
            let now = BootClock.now
            if case .relayChanged = event.kind { heard = now }
        }
        try process.write([MeasuredPlug.times])
        let times = process.line()?.split(separator: " ").compactMap { Int64($0) } ?? []
        guard times.count == 2, let heard else { throw BenchmarkError("a press did not switch the relay") }
        return (Double(times[1] - times[0]), Double((heard - Instant(nanoseconds: times[0])).wholeNanoseconds))
    }

    /// Toggles the relay.
    /// - Returns: the nanoseconds until the acknowledgement.
    mutating func command() async throws -> Double {
        let began = BootClock.now
        try await events.plug.send(.setRelay(on: !events.relayIsOn, autoOff: nil))
        let delay = Double((BootClock.now - began).wholeNanoseconds)
        // Unread events would stop reads from the network.
        _ = try await events.next()
        return delay
    }

    /// Pushes the button as fast as the events arrive, and returns the events per second.
    mutating func stream(events count: Int) async throws -> Double {
        let aBurst = MeasuredPlug.burstPushes * MeasuredPlug.eventsAPush
        let bursts = count / aBurst
        // The number of bursts in flight. Their events must fit into the journal's ring and into the plug's queue for
        // flash; more events would cause a gap.
        let ahead = 4
        let began = BootClock.now
        try process.write([UInt8](repeating: MeasuredPlug.burst, count: ahead))
        for burst in 0..<bursts {
            for _ in 0..<aBurst { _ = try await events.next() }
            if burst + ahead < bursts { try process.write([MeasuredPlug.burst]) }
        }
        return Double(bursts * aBurst) / (BootClock.now - began).inSeconds
    }

    /// Disconnects from the plug and watches its idle process with the program at this path.
    /// - Returns: the context switches per second, and the share of one core in percent.
    func rest(seconds: Int, watchedBy program: String) async throws -> [Double] {
        await events.plug.stop()
        return try ChildProcess.numbers(2, from: program, ["\(process.id)", "\(seconds)"])
    }

    /// Ends the plug. Returns the number of its instructions if they were counted, otherwise 0.
    @discardableResult
    func finish() async throws -> Double {
        await events.plug.stop()
        let count = try counted?.count() ?? 0
        if counted == nil { process.finish() }
        await events.client.stop()
        try FileManager.default.removeItem(atPath: directory)
        return count
    }
}
