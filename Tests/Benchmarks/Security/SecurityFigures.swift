import Foundation
import LinuxClocks
import NIOCore
import PlugTransport
import ProtocolCore

/// What it costs to prove who one is, and what strangers can do to those who have.
func securityFigures(_ setting: Setting) async throws -> [Figure] {
    var plug = try await FollowedPeer(named: "Benchmark \(getpid())", followsState: false)
    let port = try await plug.port()
    let figures = try await [handshakeFigure(setting, plug.identity, port)] + floodFigures(setting, &plug, port)
    try await plug.finish()
    return try figures + [roleCheckFigure(setting)] + falseAnnouncementFigures(setting)
}

/// From the connection attempt to the plug's state, against a handshake and an echo without a protocol.
private func handshakeFigure(
    _ setting: Setting, _ identity: TransportIdentity, _ port: Int
) async throws -> Figure {
    // As many as a plug lets in at once; it lets in twenty a second more.
    let samples = 25
    let pause = Duration.seconds(2)
    let server = try Peer.start(.bareTLS)
    defer { server.finish() }
    guard let barePort = server.line().flatMap({ Int($0) }) else { throw Complaint("the bare echo did not start") }
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

/// A paired controller's commands while a thousand strangers a second come to the same plug, on one core with everybody.
private func floodFigures(_ setting: Setting, _ plug: inout FollowedPeer, _ port: Int) async throws -> [Figure] {
    let commands = setting.times(1000, few: 100)
    let undisturbed = try await commandTimes(commands, &plug)
    let strangers = setting.times(6000, few: 2000)
    let flood = try Peer.start(.strangers, ["\(port)", "\(strangers)"])
    // By then they have used up what the plug grants to strangers at once.
    try await Task.sleep(for: .seconds(1))
    let disturbed = try await commandTimes(commands, &plug)
    guard let seconds = flood.line().flatMap({ Double($0) }) else { throw Complaint("the strangers gave up") }
    flood.finish()
    let reference = Figure.Reference(name: "the same undisturbed", value: undisturbed.median / 1000)
    return [
        Figure("command, 1000 strangers a second", disturbed.median / 1000, "µs", against: reference, .ratioAtMost(3)),
        Figure("strangers that came", Double(strangers) / seconds, "/s"),
    ]
}

/// Nanoseconds of each, some milliseconds apart, as people and rules command.
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
