import Foundation

/// Measures the address configuration of a plug against other clients for DHCP and link-local addresses.
func addressingFigures(_ setting: Setting) async throws -> [Figure] {
    let measured = try MeasuredLAN(
        by: "addressing_lan.py", [setting.programFolder(), "\(setting.times(30, few: 1))", "\(setting.rounds)"])
    return try claiming(measured) + leasing(measured) + beginning(measured) + memory(measured)
}

/// The possible durations of a claim in seconds by RFC 3927 §9: PROBE_WAIT of 0 to 1 s, two probe intervals of 1 to 2 s
/// (PROBE_MIN to PROBE_MAX), and ANNOUNCE_WAIT of 2 s.
private let claimFloor = 4.0...7.0

/// Measures the time from link-up to the link-local address. RFC 3927 fixes the range, so the bars are
/// absolute; avahi-autoipd is for comparison. The expected mean is 5.5 s; the mean of 30 runs differs by more than
/// 0.3 s in about one of 1,000 cases.
private func claiming(_ lan: MeasuredLAN) throws -> [Figure] {
    let ours = try lan.all("link-local")
    let theirs = try lan.all("link-local of avahi-autoipd")
    func figure(_ what: String, _ pick: ([Double]) -> Double, _ bar: Figure.Bar) -> Figure {
        Figure(
            "link-up to 169.254 address, \(what) of \(ours.count)", pick(ours), "s",
            against: Figure.Reference(name: "avahi-autoipd", value: pick(theirs)), bar)
    }
    // 50 ms more than the maximum of RFC 3927, for the kernel and this measurement.
    let tolerated = claimFloor.lowerBound...(claimFloor.upperBound + 0.05)
    return [
        figure("shortest", { $0.min() ?? 0 }, .within(tolerated)),
        figure("mean", { $0.reduce(0, +) / Double($0.count) }, .within(5.2...5.8)),
        figure("longest", { $0.max() ?? 0 }, .within(tolerated)),
    ]
}

/// Measures the time from link-up to the DHCPACK, and from the DHCPACK to the usable address after conflict detection.
/// The reference of the DHCPACK is the faster of two clients, which are started as soon as the link is up.
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
            "DHCPACK to usable, with conflict checks", try lan.median("usable"), "s",
            against: Figure.Reference(name: "dhcpcd", value: try lan.median("usable by dhcpcd")), .atMost(0.7)),
    ]
}

/// Measures the time from link-up, without a DHCP server, to the announcement of the plug and to a controller's
/// session. The bars of the first three figures are sums of times that RFCs define: the address claim of IPv4, or
/// IPv6's duplicate address detection (RFC 4862 §5.4: 1 s after a delay of up to 1 s), and the probing of multicast DNS
/// (RFC 6762 §8.1: 0.75 to 1 s). The session by IPv6 may take at most as long as that by IPv4. A session also includes
/// resolving, TLS and the snapshot.
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

/// Measures the memory of plugd, which includes the plug, TLS, the protocol, Swift's runtime and Foundation. The
/// reference is the sum of three C programs that only configure addresses and announce a service, and share the
/// system's C library, so no bar applies.
private func memory(_ lan: MeasuredLAN) throws -> [Figure] {
    try [("resident memory of the whole plugd", ""), ("the same, shared pages divided", ", shared divided")].map {
        name, suffix in
        Figure(
            name, try lan.median("memory\(suffix)") / 1000, "MB",
            against: Figure.Reference(
                name: "avahi-daemon, avahi-autoipd and udhcpc",
                value: try lan.median("memory of others\(suffix)") / 1000))
    }
}
