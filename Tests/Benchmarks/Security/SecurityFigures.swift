import Foundation
import LinuxSystem
import NIOCore
import NIOPosix
import PlugTransport
import ProtocolCore

/// Measures handshakes, and the effect of unpaired and unprivileged clients on the commands of the owner.
func securityFigures(_ setting: Setting) async throws -> [Figure] {
    var plug = try await FollowedPeer(named: "Benchmark \(getpid())", followsState: false)
    let port = try await plug.port()
    let figures =
        try await [handshakeFigure(setting, plug.identity, port)] + floodFigures(setting, &plug, port)
        + viewerFigures(setting, &plug, port)
    try await plug.finish()
    return try await figures + hostileFigures(setting) + [roleCheckFigure(setting)] + falseAnnouncementFigures(setting)
}

/// Measures the time from the connection attempt to the plug's snapshot. The reference is a TLS handshake and an echo.
private func handshakeFigure(
    _ setting: Setting, _ identity: TransportIdentity, _ port: Int
) async throws -> Figure {
    // From the address of a paired controller, the plug admits 40 connections in quick succession, and then 20 per
    // second.
    let samples = 25
    let pause = Duration.seconds(2)
    let server = try Peer.start(.bareTLS)
    defer { server.finish() }
    guard let barePort = server.line().flatMap({ Int($0) }) else { throw BenchmarkError("the bare echo did not start") }
    let bare = try BareTLS.Client(port: barePort)
    let dialer = Dialer(identity: identity)
    let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
    var theirs: [Double] = []
    var ours: [Double] = []
    for _ in 0..<setting.rounds {
        try await Task.sleep(for: pause)
        theirs += try await times(samples) { try await bare.ask() }
        ours += try await times(samples) {
            let visitor = SnapshotVisitor()
            try await dialer.connect(to: [address], on: visitor.loop, owner: visitor)
            try await visitor.waitForSnapshot()
        }
    }
    let reference = Figure.Reference(name: "bare NIO TLS and an echo", value: theirs.median / 1000)
    return Figure("handshake and first snapshot", ours.median / 1000, "µs", against: reference, .ratioAtMost(1.5))
}

/// Measures a paired controller's commands during 1,000 unpaired connections per second, with all processes on one
/// core.
private func floodFigures(_ setting: Setting, _ plug: inout FollowedPeer, _ port: Int) async throws -> [Figure] {
    let commands = setting.times(1000, few: 100)
    let undisturbed = try await commandTimes(commands, &plug)
    let strangers = setting.times(6000, few: 2000)
    let flood = try Peer.start(.strangers, ["\(port)", "\(strangers)"])
    // Wait until the unpaired connections have used their budget.
    try await Task.sleep(for: .seconds(1))
    let disturbed = try await commandTimes(commands, &plug)
    guard let seconds = flood.line().flatMap({ Double($0) }) else { throw BenchmarkError("the flood failed") }
    flood.finish()
    let reference = Figure.Reference(name: "the same undisturbed", value: undisturbed.median / 1000)
    return [
        Figure("command, 1000 strangers a second", disturbed.median / 1000, "µs", against: reference, .ratioAtMost(3)),
        Figure("rate of strangers", Double(strangers) / seconds, "/s"),
    ]
}

/// Measures the owner's commands while a paired viewer floods the plug with each message in turn, with all processes on
/// one core, and the growth of the plug's memory.
private func viewerFigures(_ setting: Setting, _ plug: inout FollowedPeer, _ port: Int) async throws -> [Figure] {
    let viewer = try await plug.pairViewer()
    let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let count = setting.times(500, few: 50)
    let undisturbed = Distribution(try await commandTimes(2 * count, &plug))
    let memory = try plug.anonymousMemory
    var worst = (name: "", times: undisturbed)
    for message in ViewerFlood.Message.all {
        let flood = ViewerFlood(message, as: viewer, to: address, on: group.next())
        let flooding = Task { await flood.run() }
        // Wait until the viewer sends and has used its budgets. Its Hello may have to wait for the budget of messages.
        var waits = 0
        while await flood.sent == 0, waits < 100 {
            waits += 1
            try await Task.sleep(for: .milliseconds(100))
        }
        try await Task.sleep(for: .milliseconds(300))
        let times = Distribution(try await commandTimes(count, &plug))
        flooding.cancel()
        guard await flooding.value > 0 else {
            throw BenchmarkError("the viewer could not connect to flood \(message.name)")
        }
        report("a viewer floods \(message.name): p99 \(Int(times.quantile(0.99) / 1000)) µs")
        if times.quantile(0.99) >= worst.times.quantile(0.99) || worst.name.isEmpty { worst = (message.name, times) }
    }
    let grown = max(0, try plug.anonymousMemory - memory)
    try await group.shutdownGracefully()
    let reference = Figure.Reference(
        name: "undisturbed; worst: \(worst.name)", value: undisturbed.quantile(0.99) / 1000)
    return [
        Figure(
            "owner's command, p99, a viewer floods", worst.times.quantile(0.99) / 1000, "µs", against: reference,
            .ratioAtMost(3)),
        Figure("memory of the plug, growth over all floods", grown / 1000, "MB", .atMost(4)),
    ]
}

/// Prints to standard error, because standard output may contain JSON lines.
func report(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

/// Sends commands 2 ms apart and returns the nanoseconds of each.
private func commandTimes(_ count: Int, _ plug: inout FollowedPeer) async throws -> [Double] {
    var times: [Double] = []
    for _ in 0..<count {
        try await Task.sleep(for: .milliseconds(2))
        times.append(try await plug.command())
    }
    return times
}

private func times(_ count: Int, _ work: () async throws -> Void) async throws -> [Double] {
    var times: [Double] = []
    for _ in 0..<count {
        let began = BootClock.now
        try await work()
        times.append(Double((BootClock.now - began).wholeNanoseconds))
    }
    return times
}
