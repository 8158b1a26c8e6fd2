public import DNSWire
import MulticastDNS

/// The interfaces on which this host is a member of the multicast DNS groups, according to the kernel.
public struct GroupMemberships: Hashable, Sendable {
    /// The names of the interfaces, per address family.
    public var members: [IPFamily: Set<String>]

    /// Creates memberships.
    public init(members: [IPFamily: Set<String>]) { self.members = members }

    /// Reads the memberships from /proc; nil if /proc is not available.
    public static func current() -> GroupMemberships? {
        guard let v4 = procFile("/proc/net/igmp") else { return nil }
        // The file does not exist if the kernel has no IPv6.
        return GroupMemberships(members: [.v4: membersV4(v4), .v6: membersV6(procFile("/proc/net/igmp6") ?? "")])
    }

    /// Parses /proc/net/igmp: a line per interface (`2 eth0 : 2 V3`), followed by an indented line per group, with the
    /// address as a number in the host's byte order.
    static func membersV4(_ text: String) -> Set<String> {
        let group = String(RFC6762.groupV4.rawValue.byteSwappedHex)
        var interface = ""
        var found: Set<String> = []
        for line in text.split(separator: "\n").dropFirst() {
            let fields = line.split(whereSeparator: \.isWhitespace)
            if line.first?.isWhitespace == false {
                interface = fields.count > 1 ? String(fields[1].prefix { $0 != ":" }) : ""
            } else if fields.first.map(String.init) == group {
                found.insert(interface)
            }
        }
        return found
    }

    /// Parses /proc/net/igmp6: a line per group, which begins with the index of the interface, its name, and the group
    /// in hexadecimal digits.
    static func membersV6(_ text: String) -> Set<String> {
        let group = RFC6762.groupV6.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return Set(
            text.split(separator: "\n").compactMap { line in
                let fields = line.split(whereSeparator: \.isWhitespace)
                return fields.count > 2 && fields[2] == group ? String(fields[1]) : nil
            })
    }
}

extension UInt32 {
    /// The digits that `%08X` prints for an address that is stored in network byte order.
    fileprivate var byteSwappedHex: String {
        let digits = String(bigEndian, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
