import Foundation
import LinuxSystem
import ProtocolCore

/// Measures the plug protocol against raw TCP, NIO with TLS, and mosquitto on the same core.
func wireFigures(_ setting: Setting) async throws -> [Figure] {
    try await latencyFigures(setting) + throughputFigures(setting) + chunkFigures(setting) + [stalledSubscriberFigure()]
        + instructionFigures(setting)
}

/// Measures the latency of events and commands between two processes. Echo, events and commands run in turn, a hundred
/// at a time, so that other load on the machine affects all three.
private func latencyFigures(_ setting: Setting) async throws -> [Figure] {
    let server = try Peer.start(.echo)
    guard let port = server.line().flatMap({ Int($0) }) else { throw BenchmarkError("the echo did not start") }
    let client = try await EchoClient(port: port)
    var plug = try await FollowedPeer(named: "Benchmark \(getpid())", followsState: true)
    var medians = Latencies()
    try await client.withRoundTrips { roundTrip in
        for _ in 0..<setting.rounds {
            medians.raw.append(try ChildProcess.number(from: setting.references + "/round_trip"))
            var round = Latencies()
            for _ in 0..<setting.times(20, few: 2) {
                for _ in 0..<100 { round.echo.append(try await time(roundTrip)) }
                for _ in 0..<100 { round.events += try await plug.push() }
                for _ in 0..<100 { round.commands.append(try await plug.command()) }
            }
            medians.echo.append(round.echo.median)
            medians.events.append(round.events.median)
            medians.commands.append(round.commands.median)
        }
    }
    try await plug.finish()
    server.finish()
    return medians.figures
}

/// Latencies in nanoseconds.
private struct Latencies {
    var raw: [Double] = []
    var echo: [Double] = []
    var events: [Double] = []
    var commands: [Double] = []

    var figures: [Figure] {
        let roundTrip = Figure.Reference(name: "raw TCP round trip", value: raw.median / 1000)
        let bareEcho = Figure.Reference(name: "bare NIO TLS echo", value: echo.median / 1000)
        return [("event, recorded to for await", events), ("command, sent to answered", commands)].flatMap {
            name, times in
            [
                Figure(name, times.median / 1000, "µs", against: roundTrip, .ratioAtMost(12)),
                Figure(name, times.median / 1000, "µs", against: bareEcho, .ratioAtMost(1.5)),
            ]
        }
    }
}

/// Runs `work` and returns its duration in nanoseconds.
private func time(_ work: () async throws -> Void) async rethrows -> Double {
    let began = BootClock.now
    try await work()
    return Double((BootClock.now - began).wholeNanoseconds)
}

/// Measures the events per second of one session against messages of the same size through a broker.
private func throughputFigures(_ setting: Setting) async throws -> [Figure] {
    let events = setting.times(102_400, few: 10_240)
    let broker = try MosquittoBroker()
    defer { broker.stop() }
    var plug = try await FollowedPeer(named: "Benchmark \(getpid())", followsState: false)
    var ours: [Double] = []
    var theirs: [Double] = []
    for _ in 0..<setting.rounds {
        theirs.append(
            try ChildProcess.number(
                from: setting.references + "/mosquitto_stream",
                ["\(broker.port)", "\(events)", "\(EventFrame.meanBytes)"]))
        ours.append(try await plug.stream(events: events))
    }
    try await plug.finish()
    let reference = Figure.Reference(name: "mosquitto QoS 1", value: theirs.median)
    return [Figure("events through one session", ours.median, "/s", against: reference, .ratioAtLeast(3))]
}
