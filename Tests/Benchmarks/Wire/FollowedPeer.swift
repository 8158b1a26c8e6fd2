import Foundation
import LinuxNetwork
import Logging
import PlugClient
import PlugProtocol
import PlugTransport
import ProtocolCore
import Storage

/// The controller's end of a ``MeasuredPlug``: found by multicast DNS and followed like any plug.
struct FollowedPeer {
    private let process: ChildProcess
    private let client: PlugClient
    private let plug: FollowedPlug
    private var reports: PlugReports.AsyncIterator
    private var relayIsOn = false
    /// Files of both sides, removed at the end.
    private let directory: String
    /// What this controller proves itself with.
    let identity = TransportIdentity()

    /// - Parameters:
    ///   - name: of a plug that nothing else on this machine bears.
    ///   - followsState: whether readings come too, and the relay's state beside its event.
    init(named name: String, followsState: Bool) async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(getpid())").path
        process = try Peer.start(.plug, [name, directory + "/plug"])
        client = PlugClient(
            name: "benchmark", identity: identity, paired: PairedPlugs(directory: directory), interfaces: ["lo"],
            logger: Logger(label: "client") { _ in SwiftLogNoOpLogHandler() })
        let found = try await client.find(name, within: .seconds(10))
        _ = try await client.pair(found, code: PlugLabel(state: directory + "/plug").code)
        plug = client.follow(found, after: .beginning, stateOptions: followsState ? StateOptions() : nil)
        reports = plug.reports.makeAsyncIterator()
        while case let update? = await reports.next()?.update {
            // The plug's own start is the first event.
            if case .event = update { return }
        }
        throw Complaint("the plug could not be followed")
    }

    /// Where it listens.
    func port() async throws -> Int { Int(try await client.resolve(plug.name).port) }

    /// Pushes the button once.
    /// - Returns: nanoseconds from the plug's recording of each event to here.
    mutating func push() async throws -> [Double] {
        try process.write([MeasuredPlug.push])
        var delays: [Double] = []
        while delays.count < MeasuredPlug.eventsAPush {
            let event = try await nextEvent()
            delays.append(Double((BootClock.now - event.time).wholeNanoseconds))
        }
        return delays
    }

    /// Turns the relay over.
    /// - Returns: nanoseconds until the acknowledgement.
    mutating func command() async throws -> Double {
        let began = BootClock.now
        try await plug.send(.setRelay(on: !relayIsOn, autoOff: nil))
        let delay = Double((BootClock.now - began).wholeNanoseconds)
        // Left unread, events would stop the reading from the network.
        _ = try await nextEvent()
        return delay
    }

    /// Events a second while the button is pushed as fast as the events arrive.
    mutating func stream(events: Int) async throws -> Double {
        let aBurst = MeasuredPlug.burstPushes * MeasuredPlug.eventsAPush
        let bursts = events / aBurst
        // Fewer events are on their way than the journal's ring holds, or the plug would tell of a gap.
        let ahead = 4
        let began = BootClock.now
        try process.write([UInt8](repeating: MeasuredPlug.burst, count: ahead))
        for burst in 0..<bursts {
            for _ in 0..<aBurst { _ = try await nextEvent() }
            if burst + ahead < bursts { try process.write([MeasuredPlug.burst]) }
        }
        return Double(bursts * aBurst) / (BootClock.now - began).inSeconds
    }

    func finish() async throws {
        await plug.stop()
        process.finish()
        await client.stop()
        try FileManager.default.removeItem(atPath: directory)
    }

    private mutating func nextEvent() async throws -> PlugEvent {
        while case let update? = await reports.next()?.update {
            switch update {
            case .event(let event, _):
                if case .relayChanged(let on, _) = event.kind { relayIsOn = on }
                return event
            case .gap(let gap): throw Complaint("events \(gap.from) to \(gap.to) were lost while measuring")
            case .disconnected(let reason, _): throw Complaint("the plug was lost while measuring: \(reason)")
            case .connected, .following, .snapshot, .state: continue
            }
        }
        throw Complaint("the plug was lost while measuring")
    }
}
