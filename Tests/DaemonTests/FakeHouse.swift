import AsyncAlgorithms
import LinuxSystem
import Metering
import PlugClient
import PlugModel
import ProtocolCore

@testable import Daemon

/// A house whose updates the test sends, and which records the requests to it.
actor FakeHouse: PlugAccess, SampleSource {
    struct Command: Equatable {
        var plug: String
        var command: PlugCommand
        var id: RequestID
    }

    nonisolated let updates = AsyncChannel<HouseFollower.Update>()
    private(set) var commands: [Command] = []
    private var acknowledged: [String: SequenceNumber] = [:]
    private var waiting: (plug: String, SequenceNumber, CheckedContinuation<Void, Never>)?
    private let refusals: [String: Refusal]

    /// True if the plugs never answer.
    private let isSilent: Bool
    /// The seconds for which each plug has a sample, up to its current time. If nil, fetches are refused.
    private var remembered: ClosedRange<Int64>?
    /// The fetched ranges, in order.
    private(set) var fetched: [ClosedRange<Int64>] = []

    init(refusing refusals: [String: Refusal] = [:], isSilent: Bool = false, remembering: ClosedRange<Int64>? = nil) {
        self.refusals = refusals
        self.isSilent = isSilent
        remembered = remembering
    }

    func pairedPlugs() -> [PlugID: String]? { nil }
    func plug(named name: String) -> FollowedPlug? { nil }

    /// Advances the plugs' clocks and adds samples.
    func remember(through second: Int64) { remembered = remembered.map { $0.lowerBound...second } }

    func clock(of plug: String) -> ClockMapping? {
        // The plug's current time is the last second with a sample.
        let now = BootClock.now
        let plugTime = Instant.zero + .seconds(remembered?.upperBound ?? 0)
        return ClockMapping(boot: PlugDescription.made(plug).boot, plugTime: plugTime, asked: now, answered: now)
    }

    func chunks(of plug: String, boot: BootID, _ range: ClosedRange<Int64>) throws -> FetchedChunks {
        fetched.append(range)
        guard let remembered else { throw Refusal(.deadlinePassed, "the plug is away") }
        let first = max(remembered.lowerBound, (range.lowerBound + 999) / 1000)
        let last = min(remembered.upperBound, range.upperBound / 1000)
        return .made(first <= last ? first...last : nil, asked: remembered.upperBound * 1000, boot: boot)
    }

    func run(_ deliver: @escaping HouseFollower.Delivery) async {
        for await update in updates { await deliver(update) }
        updates.finish()
    }

    func send(
        _ command: PlugCommand, to plug: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?) {
        if let refusal = refusals[plug] { throw refusal }
        if isSilent {
            // This stream has no elements. It ends when the task is cancelled.
            for await _ in AsyncStream.makeStream(of: Never.self).stream {}
            throw CancellationError()
        }
        commands.append(Command(plug: plug, command: command, id: id))
        return (PlugState(relayOn: true), 77)
    }

    func acknowledge(_ sequence: SequenceNumber, of plug: String) {
        acknowledged[plug] = sequence
        guard let (wanted, number, continuation) = waiting, wanted == plug, number == sequence else { return }
        waiting = nil
        continuation.resume()
    }

    /// Waits until this event has been acknowledged.
    func acknowledged(_ sequence: SequenceNumber, of plug: String) async {
        guard acknowledged[plug] != sequence else { return }
        await withCheckedContinuation { waiting = (plug, sequence, $0) }
    }

    // MARK: Updates

    nonisolated func report(_ update: PlugUpdate, of plug: String) async {
        await updates.send(.report(PlugReport(plug: plug, at: WallTime.now, update: update)))
    }

    nonisolated func snapshot(_ plug: String, on: Bool = false, watts: Double? = nil, time: Double = 0) async {
        await report(.connected(.made(plug)), of: plug)
        await report(.snapshot(state(on: on, watts: watts, time: time)), of: plug)
    }

    nonisolated func reading(_ plug: String, watts: Double, time: Double) async {
        await report(.state(state(on: true, watts: watts, time: time)), of: plug)
    }

    nonisolated func press(_ plug: String, sequence: SequenceNumber = 5, age: Duration? = .zero) async {
        let event = PlugEvent(
            sequence: sequence, boot: BootID(bytes: [UInt8](repeating: 7, count: 16))!, time: .zero,
            kind: .buttonPressed(.single))
        await report(.event(event, age: age), of: plug)
    }

    private nonisolated func state(on: Bool, watts: Double?, time: Double) -> PlugState {
        PlugState(
            relayOn: on,
            reading: watts.map {
                Reading(
                    time: Instant(nanoseconds: Int64(time * 1e9)), deciwatts: Int32($0 * 10), milliwattHours: 0)
            })
    }
}

extension PlugID {
    /// Returns a different id for each name in these tests.
    static func made(_ name: String) -> PlugID {
        var random = SeededRandom(seed: name.utf8.reduce(0) { $0 << 8 | UInt64($1) })
        return PlugID(drawnFrom: &random)
    }
}

extension PlugDescription {
    static func made(_ name: String) -> PlugDescription {
        let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!
        return PlugDescription(
            id: .made(name), name: name, capabilities: [.relay], firmware: "1.0", boot: boot,
            clock: ClockMapping(boot: boot, plugTime: .zero, asked: .zero, answered: .zero))
    }
}
