import DNSWire
import LinuxNetwork

extension Diagnosis {
    static func ofPort(_ seen: Observations) -> [Finding] {
        guard !seen.links.isEmpty else { return [] }
        guard !seen.portHolders.isEmpty else {
            return [Finding(.ok, .port, "no other program of this host has UDP port 5353 open")]
        }
        let isHidden = seen.portHolders.contains { $0.process == nil }
        return [
            Finding(
                .ok, .port, "open in other programs too: \(names(of: seen.portHolders))",
                why: "what is sent by multicast reaches all of them, an answer to this host alone only one",
                next: isHidden ? "as root, `plugctl doctor` names them" : nil)
        ]
    }

    private static func names(of holders: [PortHolder]) -> String {
        list(
            holders.map { holder in
                holder.process.map { "\($0.name) (process \($0.id))" } ?? "one of user \(holder.user)"
            })
    }

    /// Returns the findings per interface.
    ///
    /// - Returns: the faults per interface and family, or the hosts whose packets were received.
    static func ofMulticast(_ seen: Observations) -> [Finding] {
        var findings: [Finding] = []
        let interfaces = Dictionary(grouping: seen.links, by: \.interface).sorted { $0.key < $1.key }
        let anybodyHeard = seen.links.contains { !$0.others.isEmpty }
        for (interface, links) in interfaces {
            let faults = links.compactMap { fault(of: $0, seen.portHolders) }
            findings += faults
            if faults.count < links.count, let heard = heard(interface, links, seen, anybodyHeard: anybodyHeard) {
                findings.append(heard)
            }
        }
        return findings
    }

    private static func fault(of link: Observations.Link, _ holders: [PortHolder]) -> Finding? {
        let place = "\(link.interface), \(link.family.words)"
        if let fault = link.fault {
            return Finding(
                .problem, .multicast, place, "port 5353 cannot be opened: \(fault)",
                why: holders.isEmpty ? nil : "others have it open: \(names(of: holders))",
                next: holders.isEmpty
                    ? "check what this program may do: a sandbox or a service unit can forbid it"
                    : "stop that program, or have it share the port (SO_REUSEADDR and SO_REUSEPORT)")
        }
        if link.isMember == false {
            return Finding(
                .problem, .multicast, place, "this host is no member of \(link.family.group)",
                why: "the kernel took or kept no membership, so the network sends it nothing",
                next: "`ip maddress show dev \(link.interface)` shows the memberships; switch the interface off and on")
        }
        if link.own == 0 {
            return Finding(
                .problem, .multicast, place, "not even this host's own packets are heard",
                why: "a firewall here takes them away, or none can be sent",
                next: "let UDP port 5353 in and out, also to \(link.family.group); `nft list ruleset` shows the rules")
        }
        return nil
    }

    /// Describes the other hosts on an interface. An interface without other hosts is not a fault if a different one
    /// has some, for example a bridge of containers.
    private static func heard(
        _ interface: String, _ links: [Observations.Link], _ seen: Observations, anybodyHeard: Bool
    ) -> Finding? {
        guard !links.contains(where: \.isLoopback) else {
            return Finding(.ok, .multicast, interface, "programs of this host hear each other")
        }
        let others = links.flatMap(\.others).map { "\($0)" }.sorted()
        if !others.isEmpty { return Finding(.ok, .multicast, interface, "heard from \(list(others))") }
        let what = "nobody else was heard within \(seconds(seen.wait))"
        guard !anybodyHeard else { return Finding(.ok, .multicast, interface, what) }
        return Finding(
            .warning, .multicast, interface, what,
            why: "no other host says anything, or multicast is lost on the way to here",
            next: """
                look whether plugs are on this network; switch off the isolation of wireless clients, and on a switch the \
                snooping of multicast (IGMP, MLD) where nothing asks for memberships
                """)
    }

    static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let tenths = attoseconds / 100_000_000_000_000_000
        return tenths == 0 ? "\(seconds) s" : "\(seconds).\(tenths) s"
    }
}

extension IPFamily {
    fileprivate var words: String {
        switch self {
        case .v4: "IPv4"
        case .v6: "IPv6"
        }
    }

    fileprivate var group: String {
        switch self {
        case .v4: "224.0.0.251"
        case .v6: "ff02::fb"
        }
    }
}
