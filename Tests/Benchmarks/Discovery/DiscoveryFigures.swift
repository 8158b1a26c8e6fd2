import Foundation

/// Multicast DNS and service discovery against what else there is.
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

/// All services of one publisher, ours or Avahi, from a cold start. The references are what people use: avahi-browse, and
/// python-zeroconf as its README shows it. Its asynchronous interface, with which a program resolves all at once, stands beside
/// them.
///
/// A query waits 20 to 120 ms and so does its answer (RFC 6762 §5.2, §6), so nobody can be twice as fast as a browser that needs
/// little more than that. Where python-zeroconf does, which is with all that Avahi adds to an answer, it is shown and not judged.
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
        // RFC 6762 §8.1: a random wait of 0 to 250 ms and three times 250 ms.
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
        // With those in which a host that hears nobody reports its memberships again, every two minutes.
        Figure(
            "all idle packets in that time", try lan.median("idle packets"), "",
            against: Figure.Reference(name: "avahi-daemon", value: try lan.median("idle packets of avahi-daemon"))),
    ]
}
