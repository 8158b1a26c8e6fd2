import Foundation

/// How fast a plug is from its button to its relay and to who listens, and what it costs while nothing happens: with simulated
/// parts on this machine, and with drivers in a guest whose kernel has lines and a meter.
func hardwareFigures(_ setting: Setting) async throws -> [Figure] {
    let guest = try MeasuredGuest(references: setting.references)
    return try await simulatedParts(setting) + drivers(guest)
}

private let presses = 500
/// Context switches a second of a plug that has nothing to do but to meter once a second.
private let idleSwitches = Figure.Bar.atMost(5)
private let restSeconds = 60

private func simulatedParts(_ setting: Setting) async throws -> [Figure] {
    var plug = try await FollowedPeer(named: "Benchmark \(getpid())", followsState: false)
    var relay: [Double] = []
    var event: [Double] = []
    for _ in 0..<presses {
        // As apart as a quick finger's: a plug that is awake already would be faster.
        try await Task.sleep(for: .milliseconds(20))
        let times = try await plug.timedPush()
        relay.append(times.relay)
        event.append(times.event)
    }
    let each = try await rest(plug, setting)
    try await plug.finish()
    let often = try await FollowedPeer(named: "Benchmark \(getpid())", followsState: false, metersEvery: 100)
    let tenTimes = try await rest(often, setting)
    try await often.finish()
    return Distribution(relay).figures("simulated: release to relay")
        + Distribution(event).figures("simulated: release to event heard")
        + resting("simulated: metering at 1 s", each, idleSwitches)
        + resting("simulated: metering at 10 Hz", tenTimes, .none)
}

private func rest(_ plug: FollowedPeer, _ setting: Setting) async throws -> [Double] {
    try await plug.rest(seconds: restSeconds, watchedBy: setting.references + "/process_rest")
}

/// - Parameter rest: context switches a second, and the share of a core in percent.
private func resting(_ what: String, _ rest: [Double], _ bar: Figure.Bar) -> [Figure] {
    [Figure("\(what), context switches", rest[0], "/s", bar), Figure("\(what), of one core", rest[1], "%")]
}

private func drivers(_ guest: MeasuredGuest) throws -> [Figure] {
    let reference = Distribution(try guest.all("reference relay"))
    return Distribution(try guest.all("relay")).figures(
        "guest: release to relay", against: ("libgpiod in C", reference), .ratioAtMost(2))
        + Distribution(try guest.all("event")).figures("guest: release to event heard")
        + Distribution(try guest.all("debounced relay")).figures("guest: release to relay, debounced")
        + resting("guest: metering at 1 s", try guest.all("rest"), idleSwitches)
        + resting("guest: metering at 10 Hz", try guest.all("rest at 10 Hz"), .none)
}
