import Foundation

/// Measures the latency from the button to the relay and to a subscriber, and the cost of an idle plug: with simulated
/// parts on this machine, and with drivers in a guest whose kernel simulates lines and a meter.
func hardwareFigures(_ setting: Setting) async throws -> [Figure] {
    // The guest has two processors. With one, the poller of the relay line would run only after plugd has done all its
    // work.
    let guest = try MeasuredGuest(
        "hardware_guest.sh", last: ("rest at 10 Hz", 2), options: ["--cpus", "2"], programs: ["plugd", "Benchmarks"],
        setting)
    let starting = try MeasuredGuest(
        "start_guest.sh", last: ("start", setting.times(4, few: 1)), options: ["--counted"], programs: ["plugd"],
        setting)
    return try await starts(setting) + starts(in: starting) + simulatedParts(setting) + drivers(guest)
}

/// The limit of context switches per second of an idle plug that meters once per second.
private let idleSwitches = Figure.Bar.atMost(5)
/// The limit of the time from the start of the process to a working button, in ms. A user does not notice this delay.
private let startLimit = Figure.Bar.atMost(150)

private func starts(_ setting: Setting) throws -> [Figure] {
    let directory = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(getpid())").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let plug = [try setting.programFolder() + "plugd", "run", "--simulate", "lamp", "--interface", "lo"]
    let quietly = ["--log-level", "error", "--state", directory + "/state", "--runtime", directory + "/run"]
    let times = try (0..<setting.times(11, few: 2)).map { _ in
        try ChildProcess.number(from: setting.references + "/start_to_button", ["-", "-"] + plug + quietly)
    }
    return [
        started("simulated: first start to button", [times[0]]),
        started("simulated: start to button, p50 of \(times.count)", times, startLimit),
    ]
}

/// Measures the start in the guest, whose clock advances by 2 ns per instruction.
private func starts(in guest: MeasuredGuest) throws -> [Figure] {
    let times = try guest.all("start")
    return [
        started("guest: kernel to button", try guest.all("boot")),
        started("guest: first start to button", try guest.all("first start")),
        started("guest: start to button, p50 of \(times.count)", times, startLimit),
    ]
}

/// - Parameter times: in nanoseconds.
private func started(_ what: String, _ times: [Double], _ bar: Figure.Bar = .none) -> Figure {
    Figure(what, Distribution(times).quantile(0.5) / 1e6, "ms", bar)
}

private func simulatedParts(_ setting: Setting) async throws -> [Figure] {
    var plug = try await FollowedPeer(named: "Benchmark \(getpid())", followsState: false)
    var relay: [Double] = []
    var event: [Double] = []
    for _ in 0..<setting.times(500, few: 20) {
        // During this pause the plug becomes idle, as between the presses of a user. Without it the plug would still be
        // active and react faster.
        try await Task.sleep(for: .milliseconds(20))
        let times = try await plug.timedPush()
        relay.append(times.relay)
        event.append(times.event)
    }
    try await plug.finish()
    // The idle state is measured on a new plug, because the previous one still does work after so many presses.
    let calm = try await FollowedPeer(named: "Benchmark \(getpid())", followsState: false)
    let each = try await rest(calm, setting)
    try await calm.finish()
    let often = try await FollowedPeer(named: "Benchmark \(getpid())", followsState: false, metersEvery: 100)
    let tenTimes = try await rest(often, setting)
    try await often.finish()
    return Distribution(relay).figures("simulated: release to relay")
        + Distribution(event).figures("simulated: release to event heard")
        + resting("simulated: metering at 1 s", each, idleSwitches)
        + resting("simulated: metering at 10 Hz", tenTimes, .none)
}

private func rest(_ plug: FollowedPeer, _ setting: Setting) async throws -> [Double] {
    try await plug.rest(seconds: setting.times(60, few: 3), watchedBy: setting.references + "/process_rest")
}

/// - Parameter rest: context switches per second, and the share of a core in percent.
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
