import Foundation
import LinuxClocks
import Logging
import PlugClient
import PlugModel
import PlugTransport
import ProtocolCore

/// A ``MeasuredPlug`` in its own process, and the controller's end of it, which follows it like any plug.
struct FollowedPeer {
    private let process: ChildProcess
    private var events: FollowedPlugEvents
    /// Files of both sides, removed at the end.
    private let directory: String
    /// What this controller proves itself with.
    let identity = TransportIdentity()

    /// - Parameters:
    ///   - name: of a plug that nothing else on this machine bears.
    ///   - followsState: whether readings come too, and the relay's state beside its event.
    ///   - milliseconds: between two readings of its meter.
    init(named name: String, followsState: Bool, metersEvery milliseconds: Int = 1000) async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(getpid())").path
        process = try Peer.start(.plug, [name, directory + "/plug", "\(milliseconds)"])
        events = try await FollowedPlugEvents(
            of: name, state: directory + "/plug", directory: directory, as: identity, followsState: followsState)
    }

    /// A controller that the plug's owner invited as a viewer.
    func pairViewer() async throws -> TransportIdentity {
        let identity = TransportIdentity()
        let viewer = PlugClient(
            name: "viewer", identity: identity, paired: PairedPlugs(directory: directory + "/viewer"),
            interfaces: ["lo"], logger: Logger(label: "viewer") { _ in SwiftLogNoOpLogHandler() })
        var random = SystemRandomNumberGenerator()
        let code = SetupCode(drawnFrom: &random)
        guard try await events.plug.invite(with: code, as: Grant(.viewer)) != nil else {
            throw Complaint("the plug did not take the invitation")
        }
        _ = try await viewer.find(events.plug.name, within: .seconds(10))
        _ = try await viewer.pair(events.plug.name, code: code)
        await viewer.stop()
        return identity
    }

    /// kB.
    var anonymousMemory: Double { get throws { try process.anonymousMemory } }

    /// Where it listens.
    func port() async throws -> Int { Int(try await events.client.resolve(events.plug.name).port) }

    /// Pushes the button once.
    /// - Returns: nanoseconds from the plug's recording of each event to here.
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
    /// - Returns: nanoseconds from its release to the relay's setting, and to the event of it here.
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
        guard times.count == 2, let heard else { throw Complaint("a press did not switch the relay") }
        return (Double(times[1] - times[0]), Double((heard - Instant(nanoseconds: times[0])).wholeNanoseconds))
    }

    /// Turns the relay over.
    /// - Returns: nanoseconds until the acknowledgement.
    mutating func command() async throws -> Double {
        let began = BootClock.now
        try await events.plug.send(.setRelay(on: !events.relayIsOn, autoOff: nil))
        let delay = Double((BootClock.now - began).wholeNanoseconds)
        // Left unread, events would stop the reading from the network.
        _ = try await events.next()
        return delay
    }

    /// Events a second while the button is pushed as fast as the events arrive.
    mutating func stream(events count: Int) async throws -> Double {
        let aBurst = MeasuredPlug.burstPushes * MeasuredPlug.eventsAPush
        let bursts = count / aBurst
        // Fewer events are on their way than the journal's ring holds and than may wait for flash, or the plug would tell of a gap.
        let ahead = 4
        let began = BootClock.now
        try process.write([UInt8](repeating: MeasuredPlug.burst, count: ahead))
        for burst in 0..<bursts {
            for _ in 0..<aBurst { _ = try await events.next() }
            if burst + ahead < bursts { try process.write([MeasuredPlug.burst]) }
        }
        return Double(bursts * aBurst) / (BootClock.now - began).inSeconds
    }

    /// Lets go of the plug and watches its process while nobody asks anything of it, with the program of this path.
    /// - Returns: context switches a second, and the share of one core in percent.
    func rest(seconds: Int, watchedBy program: String) async throws -> [Double] {
        await events.plug.stop()
        return try ChildProcess.numbers(2, from: program, ["\(process.id)", "\(seconds)"])
    }

    func finish() async throws {
        await events.plug.stop()
        process.finish()
        await events.client.stop()
        try FileManager.default.removeItem(atPath: directory)
    }
}
