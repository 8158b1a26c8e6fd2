import DNSWire
import LinuxNetwork

extension Diagnosis {
    static func ofPort(_ seen: Observations) -> [Finding] {
        guard !seen.links.isEmpty else { return [] }
        guard !seen.portHolders.isEmpty else {
            return [Finding(.ok, .port, "no other program on this host uses UDP port 5353")]
        }
        let isHidden = seen.portHolders.contains { $0.process == nil }
        return [
            Finding(
                .ok, .port, "also used by other programs: \(names(of: seen.portHolders))",
                why: "every program receives the multicast packets, but only one receives a unicast answer",
                next: isHidden ? "run `plugctl doctor` as root to show their names" : nil)
        ]
    }

    private static func names(of holders: [PortHolder]) -> String {
        list(
            holders.map { holder in
                holder.process.map { "\($0.name) (process \($0.id))" } ?? "a program of user \(holder.user)"
            })
    }

    /// Returns the findings per interface.
    ///
    /// - Returns: the faults per interface and family. An interface with at least one family without a fault also has a
    ///   finding with the hosts whose packets it received.
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
                .problem, .multicast, place, "cannot open port 5353: \(fault)",
                why: holders.isEmpty ? nil : "other programs use it: \(names(of: holders))",
                next: holders.isEmpty
                    ? "check the permissions of this program; a sandbox or a service unit may deny it"
                    : "stop that program, or configure it to share the port (SO_REUSEADDR and SO_REUSEPORT)")
        }
        if link.isMember == false {
            return Finding(
                .problem, .multicast, place, "this host is not a member of \(link.family.group)",
                why: "the kernel rejected or dropped the membership, so the network sends no multicast to this host",
                next: "`ip maddress show dev \(link.interface)` shows the memberships; turn the interface off and on")
        }
        if link.own == 0 {
            return Finding(
                .problem, .multicast, place, "this host does not receive its own packets",
                why: "a firewall on this host drops them, or they cannot be sent",
                next: "allow UDP port 5353 in and out, also to \(link.family.group); `nft list ruleset` shows the rules"
            )
        }
        return nil
    }

    /// Describes the hosts whose packets an interface received. An interface without other hosts, for example a bridge
    /// of containers, is not a fault if another interface received packets.
    private static func heard(
        _ interface: String, _ links: [Observations.Link], _ seen: Observations, anybodyHeard: Bool
    ) -> Finding? {
        guard !links.contains(where: \.isLoopback) else {
            return Finding(.ok, .multicast, interface, "programs on this host receive each other's packets")
        }
        let others = links.flatMap(\.others).map { "\($0)" }.sorted()
        if !others.isEmpty { return Finding(.ok, .multicast, interface, "packets received from \(list(others))") }
        let what = "no packets from other hosts within \(seconds(seen.wait))"
        guard !anybodyHeard else { return Finding(.ok, .multicast, interface, what) }
        return Finding(
            .warning, .multicast, interface, what,
            why: "no other host sends multicast DNS, or the network does not forward it to this host",
            next: """
                check that plugs are on this network; turn off client isolation on the wireless access point, and IGMP or MLD snooping \
                on switches if the network has no querier
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
