import Foundation

/// Measures multicast DNS and service discovery against Avahi, python-zeroconf and ldns.
func discoveryFigures(_ setting: Setting) async throws -> [Figure] {
    let services = setting.times(500, few: 50)
    let measured = try MeasuredLAN(
        by: "discovery_lan.py",
        [setting.program(), services, setting.times(3, few: 1), setting.idleSeconds, setting.times(12, few: 4)].map {
            "\($0)"
        })
    return try messageFigures(setting) + browsing(measured, services) + registering(measured, services)
        + lasting(measured, services)
}

/// Measures the time to resolve all services of one publisher (this project's or Avahi) from a cold start. The
/// references are avahi-browse, python-zeroconf as its README uses it, and python-zeroconf with its asynchronous
/// interface, which resolves all services at once.
///
/// A query and its answer are each delayed by 20 to 120 ms (RFC 6762 §5.2, §6). With Avahi's additional records,
/// python-zeroconf is already near this minimum, so a bar of half its time cannot be met and is not applied.
private func browsing(_ lan: MeasuredLAN, _ services: Int) throws -> [Figure] {
    let publishers = [
        (name: "ours", suffix: "", judged: ["avahi-browse", "python-zeroconf"]),
        (name: "Avahi's", suffix: " of avahi-daemon", judged: ["avahi-browse"]),
    ]
    return try publishers.flatMap { publisher in
        let time = try lan.median("resolved\(publisher.suffix)")
        let packets = try lan.median("packets, resolved\(publisher.suffix)")
        func resolved(beside name: String, _ bar: Figure.Bar) throws -> Figure {
            let reference = Figure.Reference(
                name: name, value: try lan.median("resolved\(publisher.suffix) by \(name)"))
            return Figure(
                "\(services) services, \(publisher.name), resolved, cold", time, "s", against: reference, bar)
        }
        let judged = try ["avahi-browse", "python-zeroconf"].flatMap { name in
            let sent = Figure.Reference(
                name: name, value: try lan.median("packets, resolved\(publisher.suffix) by \(name)"))
            return [
                try resolved(beside: name, publisher.judged.contains(name) ? .ratioAtMost(0.5) : .none),
                Figure("packets for that", packets, "", against: sent, .ratioAtMost(1)),
            ]
        }
        return try judged + [resolved(beside: "python-zeroconf, all at once", .none)]
    }
}

private func registering(_ lan: MeasuredLAN, _ services: Int) throws -> [Figure] {
    let theirs = Figure.Reference(name: "python-zeroconf", value: try lan.median("registered by python-zeroconf"))
    return [
        Figure(
            "\(services) services registered, first to last announced", try lan.median("registered"), "s",
            against: theirs, .ratioAtMost(1)),
        // RFC 6762 §8.1: a random delay of 0 to 250 ms, then three intervals of 250 ms.
        Figure("register to first announcement", try lan.median("first announcement"), "s", .within(0.75...1)),
    ]
}

private func lasting(_ lan: MeasuredLAN, _ services: Int) throws -> [Figure] {
    let seconds = Int(try lan.median("idle seconds").rounded())
    return [
        Figure(
            "memory that \(services) services add", try lan.median("memory") / 1000, "MB",
            against: Figure.Reference(name: "avahi-daemon", value: try lan.median("memory of avahi-daemon") / 1000),
            .ratioAtMost(1)),
        Figure(
            "memory of a responder without them", try lan.median("memory before") / 1000, "MB",
            against: Figure.Reference(
                name: "avahi-daemon", value: try lan.median("memory of avahi-daemon before") / 1000)),
        Figure(
            "idle messages in \(seconds) s after announcing", try lan.median("idle messages"), "",
            against: Figure.Reference(name: "avahi-daemon", value: try lan.median("idle messages of avahi-daemon")),
            .atMost(try lan.median("idle messages of avahi-daemon"))),
        // The packets include the reports with which a host rejoins the multicast group after two minutes without a
        // packet.
        Figure(
            "all idle packets in that time", try lan.median("idle packets"), "",
            against: Figure.Reference(name: "avahi-daemon", value: try lan.median("idle packets of avahi-daemon"))),
    ]
}
