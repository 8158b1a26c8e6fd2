import Foundation

/// How a plug gets its addresses, against what else gets a machine its addresses.
func addressingFigures(_ setting: Setting) async throws -> [Figure] {
    let measured = try MeasuredLAN(
        by: "addressing_lan.py", [setting.programFolder(), "\(setting.times(30, few: 1))", "\(setting.rounds)"])
    return try claiming(measured) + leasing(measured) + beginning(measured) + memory(measured)
}

/// RFC 3927 §9: PROBE_WAIT 0 to 1 s, twice PROBE_MIN 1 s to PROBE_MAX 2 s, and ANNOUNCE_WAIT 2 s.
private let claimFloor = 4.0...7.0

/// From link-up to the address. Nobody who keeps to the RFC is faster, so it is judged by that; avahi-autoipd does the same. The
/// mean of so many runs of the sum lies within 0.3 s of 5.5 s in all but a few of a thousand cases.
private func claiming(_ lan: MeasuredLAN) throws -> [Figure] {
    let ours = try lan.all("link-local")
    let theirs = try lan.all("link-local of avahi-autoipd")
    func figure(_ what: String, _ pick: ([Double]) -> Double, _ bar: Figure.Bar) -> Figure {
        Figure(
            "link-up to 169.254 address, \(what) of \(ours.count)", pick(ours), "s",
            against: Figure.Reference(name: "avahi-autoipd", value: pick(theirs)), bar)
    }
    // The kernel and this measurement take their milliseconds, after the last second of the RFC's.
    let tolerated = claimFloor.lowerBound...(claimFloor.upperBound + 0.05)
    return [
        figure("shortest", { $0.min() ?? 0 }, .within(tolerated)),
        figure("mean", { $0.reduce(0, +) / Double($0.count) }, .within(5.2...5.8)),
        figure("longest", { $0.max() ?? 0 }, .within(tolerated)),
    ]
}

/// From link-up to the DHCPACK, whose reference is the faster of two clients that a program starts as soon as the link is there, and
/// from that to the address, with the check that nobody has it.
private func leasing(_ lan: MeasuredLAN) throws -> [Figure] {
    func acknowledged(_ suffix: String, _ bar: Figure.Bar) throws -> Figure {
        let references = try ["udhcpc", "dhclient"].map {
            Figure.Reference(name: $0, value: try lan.median("DHCPACK by \($0)\(suffix)") * 1000)
        }
        return Figure(
            "link-up to DHCPACK\(suffix)", try lan.median("DHCPACK\(suffix)") * 1000, "ms",
            against: references.min { $0.value < $1.value }, bar)
    }
    return [
        try acknowledged("", .ratioAtMost(1.5)),
        try acknowledged(", stored lease", .ratioAtMost(1)),
        Figure(
            "DHCPACK to usable, conflicts looked for", try lan.median("usable"), "s",
            against: Figure.Reference(name: "dhcpcd", value: try lan.median("usable by dhcpcd")), .atMost(0.7)),
    ]
}

/// From link-up, without a DHCP server, to a plug that is announced and a controller's session with it. The sum of the floors: by IPv4
/// the claim, by IPv6 the detection of duplicates (RFC 4862 §5.4: 1 s after a wait of up to 1 s); then the probing of
/// multicast DNS (RFC 6762 §8.1: 0.75 to 1 s). Resolving, TLS and the snapshot come on top.
private func beginning(_ lan: MeasuredLAN) throws -> [Figure] {
    let ipv4 = claimFloor.lowerBound + 0.75...claimFloor.upperBound + 1
    let ipv6 = 1.75...3.0
    let first = Figure.Reference(name: "by IPv4", value: try lan.median("connected by IPv4"))
    return [
        Figure("link-up to announced by IPv4, without DHCP", try lan.median("announced by IPv4"), "s", .within(ipv4)),
        Figure("link-up to controller connected by IPv4", try lan.median("connected by IPv4"), "s", .within(ipv4)),
        Figure("link-up to announced by IPv6", try lan.median("announced by IPv6"), "s", .within(ipv6)),
        Figure(
            "link-up to controller connected by IPv6", try lan.median("connected by IPv6"), "s", against: first,
            .ratioAtMost(1)),
    ]
}

/// The whole of plugd, with the plug itself, TLS, the protocol, and Swift's runtime and Foundation linked in, against three C programs
/// that do nothing else and share their C library with the whole system. So it is stated and not judged.
private func memory(_ lan: MeasuredLAN) throws -> [Figure] {
    try [("resident memory of the whole plugd", ""), ("the same, what is shared divided", ", shared divided")].map {
        name, suffix in
        Figure(
            name, try lan.median("memory\(suffix)") / 1000, "MB",
            against: Figure.Reference(
                name: "avahi-daemon, avahi-autoipd and udhcpc",
                value: try lan.median("memory of others\(suffix)") / 1000))
    }
}
