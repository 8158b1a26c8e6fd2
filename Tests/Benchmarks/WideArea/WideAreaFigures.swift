/// Measures a plug that registers itself in BIND, a browser of a push server, and a controller that moves between the
/// plug's house and another one.
/// Unit tests cover 10,000 restarts of a router (`PortMapperTests`) and 1,000 moves (`ProbeTests`) in virtual time.
func wideAreaFigures(_ setting: Setting) async throws -> [Figure] {
    let lan = try MeasuredLAN(
        by: "wide_area_lan.py",
        [
            setting.programFolder(), "\(setting.times(10, few: 1))", "\(setting.times(20, few: 1))",
            "\(setting.times(40, few: 2))", "\(setting.idleSeconds)",
        ])
    let exchanges = try lan.median("exchanges")
    // A connection is opened in one round trip. An update is answered in another one.
    let needed = Figure.Reference(name: "\(Int(exchanges)) connections with an update", value: exchanges * 2)
    let (home, away) = (Distribution(try lan.all("home")), Distribution(try lan.all("away")))
    let (push, address) = (Distribution(try lan.all("push")), Distribution(try lan.all("address")))
    return [
        Figure(
            "registration, first packet to last answer", try lan.median("round trips"), "round trips", against: needed,
            .ratioAtMost(1.2)),
        Figure("push, change to line, p95 of \(push.count)", push.quantile(0.95) * 1000, "ms", .atMost(50)),
        Figure(
            "external address, change to record, p95 of \(address.count)", address.quantile(0.95), "s", .atMost(1)),
        Figure("coming home, event after the move, p95 of \(home.count)", home.quantile(0.95), "s", .atMost(3)),
        Figure("leaving, event after the move, p95 of \(away.count)", away.quantile(0.95), "s", .atMost(3)),
        Figure("events lost in these moves", try lan.median("lost"), "", .atMost(0)),
        Figure("events repeated in these moves", try lan.median("repeated"), "", .atMost(0)),
        Figure("idle packets of a registered, mapped plug", try lan.median("idle packets"), "/min", .atMost(2)),
    ]
}
