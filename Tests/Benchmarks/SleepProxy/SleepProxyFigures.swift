/// Measures a plug that represents hosts that sleep. A unit test checks that nothing wakes a host without a reason:
/// `NoiseTests` in Tests/SleepProxyTests, "24 hours of unrelated packets wake no sleeper".
func sleepProxyFigures(_ setting: Setting) async throws -> [Figure] {
    let links = setting.times(4, few: 1)
    let measured = try MeasuredLAN(
        by: "sleep_proxy_lan.py",
        [
            setting.programFolder(), setting.references + "/frame_echo", "\(links)", "\(setting.rounds)",
            "\(setting.times(60, few: 2))",
        ])
    return try waking(measured) + cost(measured)
}

/// Measures the time from a registration to the first answer by multicast DNS, and from a SYN to the magic packet. The
/// reference is a C program that reads every frame and answers each SYN with a frame of the same size.
private func waking(_ lan: MeasuredLAN) throws -> [Figure] {
    let answering = Distribution(try lan.all("answering"))
    let waking = Distribution(try lan.all("magic packet"))
    let echo = Distribution(try lan.all("echo"))
    func percentile(_ times: Distribution) -> Double { times.quantile(0.99) * 1000 }
    let name = "SYN to magic packet, p99 of \(waking.count)"
    let reference = Figure.Reference(name: "packet socket in C", value: percentile(echo))
    return [
        Figure("registration to answering, p99 of \(answering.count)", percentile(answering), "ms", .atMost(50)),
        Figure(name, percentile(waking), "ms", .atMost(1)),
        Figure(name, percentile(waking), "ms", against: reference, .ratioAtMost(2)),
    ]
}

/// Measures the memory of 100 sleepers with 10 services each, and the processor time while 1,000 unrelated packets per
/// second arrive. Both are compared with the same plug without sleepers and packets.
private func cost(_ lan: MeasuredLAN) throws -> [Figure] {
    let share = try lan.median("share")
    return [
        Figure(
            "100 sleepers x 10 services, additional anonymous memory", try lan.median("additional memory") / 1000,
            "MB", .atMost(2)),
        Figure("the same, total", try lan.median("memory") / 1000, "MB"),
        Figure(
            "1000 unrelated packets per second, additional, of one core", try share - lan.median("idle share"), "%",
            .atMost(0.5)),
        Figure("plugd in that time, of one core", share, "%"),
        Figure("rate of unrelated packets", try lan.median("rate"), "/s"),
    ]
}
