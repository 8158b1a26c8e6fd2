import Foundation
import LinuxSystem
import NIOPosix
import ProtocolCore

/// Measures many houses at a cluster of three brokers while relays switch and one broker is killed per minute (per 15 s
/// in the short form). A subscriber must receive each event. The subscriber recognizes repeated events by their
/// numbers.
@Sendable
func fleetBrokerFigures(_ setting: Setting) async throws -> [Figure] {
    let run =
        setting.isQuick
        ? FleetRun(houses: 4, plugs: 10, rate: 40, kills: 1, period: 15, down: 3)
        : FleetRun(houses: 200, plugs: 100, rate: 200, kills: 10, period: 60, down: 15)
    return try await run.figures()
}

private struct FleetRun {
    var houses: Int
    var plugs: Int
    /// Events per second, of all houses together.
    var rate: Int
    var kills: Int
    /// Seconds from one kill to the next.
    var period: Double
    /// Seconds from a kill to the node's restart.
    var down: Double

    func figures() async throws -> [Figure] {
        try Self.raiseFileLimit()
        let folder = FileManager.default.temporaryDirectory.appending(path: "houses-\(getpid())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let cluster = try EjabberdCluster(folder: folder)
        defer { cluster.stop() }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let fleet = try SimulatedHouses(houses, perHouse: plugs, at: cluster, folder: folder, on: group)
        let subscriber = FleetSubscriber(fleet, at: cluster.addresses, on: group.next())
        await subscriber.connect()
        await fleet.begin()
        // Wait until all houses have published their first messages: three per plug.
        try await Task.sleep(for: .seconds(2 + Double(3 * houses * plugs) / 1000))
        let connected = fleet.connected
        guard connected == houses else { throw BenchmarkError("\(connected) of \(houses) houses reached a broker") }
        let before = (own: ChildProcess.processorTime(of: getpid()), cluster: cluster.processorTime, at: BootClock.now)
        let events = try await turn(fleet, subscriber, cluster)
        let seconds = (BootClock.now - before.at).inSeconds
        let own = (ChildProcess.processorTime(of: getpid()) - before.own) / seconds
        let brokers = (cluster.processorTime - before.cluster) / seconds
        let memory = (own: ChildProcess.residentMemory(of: getpid()), broker: cluster.memory)
        try await settle(subscriber)
        for index in cluster.addresses.indices { try cluster.waitUntilReady(index) }
        let missing = await subscriber.missing
        let account = await subscriber.account
        await fleet.stop()
        await subscriber.end()
        try await group.shutdownGracefully()
        let delays = account.delays.sorted()
        guard !delays.isEmpty else { throw BenchmarkError("the subscriber received no event") }
        return [
            Figure("\(houses) houses x \(plugs) plugs, \(kills) kills: events", Double(events), ""),
            Figure("the same, missing at the subscriber", Double(missing), "", .atMost(0)),
            Figure("the same, with a wrong number", Double(account.wrong), "", .atMost(0)),
            Figure("the same, duplicates known by their numbers", Double(account.twice), ""),
            Figure("the same, received in answers", Double(account.fromAnswers), ""),
            Figure("event to the subscriber, median", delays.median * 1000, "ms"),
            Figure("event to the subscriber, longest", (delays.last ?? 0) * 1000, "ms"),
            Figure("longest time without an event", account.longestSilence * 1000, "ms"),
            Figure("all houses, of one core", own * 100, "%"),
            Figure("all houses, memory", memory.own / 1e6, "MB"),
            Figure("three brokers, of one core", brokers * 100, "%"),
            Figure("the largest broker, memory", memory.broker / 1e6, "MB"),
        ]
    }

    /// Switches relays at a constant rate, kills and restarts brokers, and returns the number of events.
    private func turn(_ fleet: SimulatedHouses, _ subscriber: FleetSubscriber, _ cluster: EjabberdCluster) async throws
        -> Int
    {
        var random = SeededRandom(seed: 2)
        let began = BootClock.now
        let end = (Double(kills) + 0.5) * period
        var (events, killed, started) = (0, 0, 0)
        while true {
            let passed = (BootClock.now - began).inSeconds
            guard passed < end else { return events }
            if killed < kills, passed >= Double(killed + 1) * period {
                try cluster.kill(killed % cluster.addresses.count)
                killed += 1
            }
            if started < killed, passed >= Double(killed) * period + down {
                try cluster.restart(started % cluster.addresses.count)
                started += 1
            }
            while Double(events) < passed * Double(rate) {
                let plug = fleet.plugs[Int.random(in: fleet.plugs.indices, using: &random)]
                await fleet.turn(plug, subscriber.expect(plug.id))
                events += 1
            }
            await subscriber.askForMissing()
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Raises the limit of open files, because each house has a journal and a connection.
    private static func raiseFileLimit() throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw BenchmarkError("the limit of open files cannot be raised")
        }
    }

    /// Waits until the subscriber has all events, for a minute at most.
    private func settle(_ subscriber: FleetSubscriber) async throws {
        let began = BootClock.now
        try await Task.sleep(for: .seconds(2))
        while await subscriber.missing > 0, BootClock.now - began < .seconds(60) {
            await subscriber.look()
            try await Task.sleep(for: .seconds(1))
        }
    }
}
