import Broker
import BrokerConfiguration
import Daemon
import Foundation
import LinuxSystem
import Metering
import NIOPosix
import PlugClient
import PlugModel
import PlugTransport
import ProtocolCore
import RuleModel

/// Measures a house at a real mosquitto: the latency from a plug event to a subscriber, the cost of the states of many
/// plugs, and the memory of a plug's own connection.
@Sendable
func brokerFigures(_ setting: Setting) async throws -> [Figure] {
    let broker = try MosquittoBroker()
    defer { broker.stop() }
    return try await BrokeredPresses(broker: broker).figures(setting.times(300, few: 20))
        + BrokeredStates(broker: broker).figures(seconds: setting.times(10, few: 2))
        + PlugMemory(broker: broker).figures()
}

extension BrokerSettings {
    fileprivate init(of broker: MosquittoBroker, house: String) throws {
        let text = "[broker]\nhost = \"127.0.0.1\"\nport = \(broker.port)\ntls = \"off\"\nhouse = \"\(house)\"\n"
        try self.init(Array(text.utf8), file: "broker.toml", home: "/")
    }
}

/// A plug in its own process, a house that publishes its events to a broker, and a subscriber at this broker.
private struct BrokeredPresses {
    private static let pause = Duration.milliseconds(20)
    let broker: MosquittoBroker

    func figures(_ count: Int) async throws -> [Figure] {
        let name = "Benchmark \(getpid())"
        let directory = FileManager.default.temporaryDirectory.appending(path: "broker-\(getpid())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let process = try Peer.start(.plug, [name, directory + "/plug", "1000"])
        defer { process.finish() }
        var own = try await FollowedPlugEvents(
            of: name, state: directory + "/plug", directory: directory + "/controller", as: TransportIdentity(),
            followsState: false)
        // The plug has one session at a time, like the plug of a daemon. So the own stream is measured first.
        var toOwn: [Double] = []
        for _ in 0..<count {
            try await press(process)
            let press = try await own.nextPress()
            toOwn.append(Double((BootClock.now - press.time).wholeNanoseconds))
        }
        await own.plug.stop()
        let client = own.client
        let door = try BrokerDoor(
            BrokerSettings(of: broker, house: "presses"), directory: directory + "/door",
            paired: { nil }, on: client.eventLoop
        ) { _ in }
        let observer = PressObserver()
        let runner = RuleRunner(RuleFileSet(rules: []), client: client, store: nil, audiences: [door, observer])
        let running = Task { await runner.run() }
        let telling = Task { await door.run { try await runner.send($0, to: $1, id: $2) } }
        var records = runner.records.makeAsyncIterator()
        while let record = await records.next() { if case .following = record.notice { break } }
        // Unread records would block the runner.
        let reading = Task { for await _ in runner.records {} }
        let listener = BrokerListener(to: broker, hearing: "smartplug/presses/+/event", "benchmark/round")
        var heard = listener.messages.makeAsyncIterator()
        // Wait until the plug's availability is published.
        try await Task.sleep(for: .seconds(2))
        var presses = observer.presses.makeAsyncIterator()
        var (toBroker, rounds): ([Double], [Double]) = ([], [])
        for _ in 0..<count {
            try await press(process)
            guard let press = await presses.next() else { break }
            while let message = await heard.next() {
                guard message.text.contains("\"seq\":\(press.sequence),") else { continue }
                toBroker.append(Double((message.at - press.time).wholeNanoseconds))
                break
            }
            // All processes are as idle as before a press.
            try await Task.sleep(for: Self.pause)
            let began = BootClock.now
            listener.publish("benchmark/round", String(repeating: "x", count: 150))
            while let message = await heard.next() {
                guard message.topic == "benchmark/round" else { continue }
                rounds.append(Double((message.at - began).wholeNanoseconds))
                break
            }
        }
        running.cancel()
        telling.cancel()
        await running.value
        await reading.value
        await telling.value
        await own.stop()
        listener.end()
        let reference = Distribution(zip(toOwn, rounds).map { $0 + $1 })
        return Distribution(toBroker).figures(
            "event at the plug to a subscriber", against: ("own stream and mosquitto's round trip", reference),
            .ratioAtMost(1.5))
            + Distribution(toOwn).figures("own stream") + Distribution(rounds).figures("mosquitto's round trip")
    }

    private func press(_ plug: ChildProcess) async throws {
        try await Task.sleep(for: Self.pause)
        try plug.write([MeasuredPlug.push])
    }
}

extension FollowedPlugEvents {
    /// Returns the next press. Skips the relay's event of each press and the events of pairing.
    fileprivate mutating func nextPress() async throws -> PlugEvent {
        while true {
            let event = try await next()
            if case .buttonPressed = event.kind { return event }
        }
    }
}

/// Receives the presses of a house.
private struct PressObserver: HouseObserver {
    let presses: AsyncStream<PlugEvent>
    private let press: AsyncStream<PlugEvent>.Continuation

    init() { (presses, press) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(100)) }

    func handle(_ update: HouseFollower.Update) {
        guard case .report(let report) = update, case .event(let event, _) = report.update,
            case .buttonPressed = event.kind
        else { return }
        press.yield(event)
    }

    func note(_ record: RunnerRecord) {}
    func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) {}
}

/// A house that publishes the states of many plugs, one per second and plug.
private struct BrokeredStates {
    let broker: MosquittoBroker

    func figures(seconds: Int) async throws -> [Figure] {
        var shares: [(plugs: Int, share: Double, published: Double)] = []
        for plugs in [10, 100, 1000, 10_000] {
            let (share, published) = try await share(of: plugs, seconds: seconds)
            shares.append((plugs, share, published))
        }
        var figures: [Figure] = []
        for (plugs, share, published) in shares {
            // The cost per message must not grow with the number of plugs. A slow broker gets fewer messages: only the
            // newest states.
            let reference = Figure.Reference(
                name: "cost per message of 100 plugs", value: shares[1].share * published / shares[1].published)
            figures.append(
                Figure(
                    "\(plugs) plugs' states a second, processor", 100 * share, "%",
                    against: .init(name: reference.name, value: 100 * reference.value),
                    plugs > 100 ? .ratioAtMost(1.2) : .none))
            figures.append(
                Figure(
                    "\(plugs) plugs' states a second that reached the broker", published, "",
                    against: .init(name: "reported", value: Double(plugs)), plugs > 1000 ? .none : .ratioAtLeast(0.95)))
        }
        guard let thousand = shares.first(where: { $0.plugs == 1000 }) else { return figures }
        return figures + [Figure("the same of 1000 plugs, of one core", 100 * thousand.share, "%", .atMost(25))]
    }

    /// Returns the share of a core, from 0 to 1, and the published messages per second.
    private func share(of count: Int, seconds: Int) async throws -> (share: Double, published: Double) {
        let directory = FileManager.default.temporaryDirectory.appending(path: "states-\(getpid())-\(count)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let door = try BrokerDoor(
            BrokerSettings(of: broker, house: "states-\(count)"), directory: directory, paired: { nil },
            on: group.next()
        ) { _ in }
        let telling = Task { await door.run { _, _, _ in throw Refusal(.unsupported, "not used here") } }
        var random = SeededRandom(seed: 1)
        let plugs = (0..<count).map { number in (name: "Plug \(number)", id: PlugID(drawnFrom: &random)) }
        for plug in plugs { await door.handle(report(plug.name, .connected(.benchmarked(plug.id, plug.name)))) }
        // Wait until the messages that are published once per plug have been sent.
        try await Task.sleep(for: .seconds(2 + Double(count) / 2000))
        let publishedBefore = try broker.published()
        let before = Self.processor()
        let began = BootClock.now
        for second in 0..<seconds {
            for (number, plug) in plugs.enumerated() {
                let state = PlugState(relayOn: true, reading: reading(second, number))
                await door.handle(report(plug.name, .state(state)))
                if number % 100 == 99 { try await Task.sleep(for: .microseconds(500_000 / max(1, count / 100))) }
            }
            let left = began + .seconds(second + 1) - BootClock.now
            if left > .zero { try await Task.sleep(for: left) }
        }
        let spent = Self.processor() - before
        let elapsed = (BootClock.now - began).inSeconds
        // The broker updates its count each second.
        try await Task.sleep(for: .seconds(2))
        let arrived = try broker.retained(below: "smartplug/states-\(count)/+/state", count)
            .count { $0.contains("\"activeEnergy\":\(Double(1000 + seconds - 1) / 1000)") }
        guard arrived == count else {
            throw BenchmarkError("the broker has the last state of only \(arrived) of \(count) plugs")
        }
        telling.cancel()
        await telling.value
        try await group.shutdownGracefully()
        return (spent / elapsed, Double(try broker.published() - publishedBefore) / elapsed)
    }

    private func report(_ name: String, _ update: PlugUpdate) -> HouseFollower.Update {
        .report(PlugReport(plug: name, at: .now, update: update))
    }

    private func reading(_ second: Int, _ number: Int) -> Reading {
        Reading(
            time: .zero + .seconds(second), deciwatts: Int32(100 + (second * 7 + number) % 1000), decivolts: 2301,
            milliamperes: UInt32(50 + number % 100), milliwattHours: UInt64(1000 + second))
    }

    /// Returns the processor time of this process in seconds. The broker is a separate process.
    private static func processor() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

extension PlugDescription {
    fileprivate static func benchmarked(_ id: PlugID, _ name: String) -> PlugDescription {
        guard let boot = BootID(bytes: [UInt8](repeating: 1, count: 16)) else {
            preconditionFailure("a boot id has 16 bytes")
        }
        let clock = ClockMapping(boot: boot, plugTime: .zero, asked: .zero, answered: .zero)
        return PlugDescription(
            id: id, name: name, capabilities: [.relay, .meter, .button], firmware: "0.1.0", boot: boot, clock: clock)
    }
}
