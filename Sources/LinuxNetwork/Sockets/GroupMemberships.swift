public import DNSWire
import MulticastDNS

/// On which interfaces this host is a member of the groups of multicast DNS, by the kernel's own account.
public struct GroupMemberships: Hashable, Sendable {
    /// Names of interfaces.
    public var members: [IPFamily: Set<String>]

    public init(members: [IPFamily: Set<String>]) { self.members = members }

    /// Nil where /proc is not mounted.
    public static func current() -> GroupMemberships? {
        guard let v4 = procFile("/proc/net/igmp") else { return nil }
        // A kernel without IPv6 has no such file.
        return GroupMemberships(members: [.v4: membersV4(v4), .v6: membersV6(procFile("/proc/net/igmp6") ?? "")])
    }

    /// /proc/net/igmp: a line for an interface (`2 eth0 : 2 V3`), then one for each of its groups, indented, the address as a number
    /// in the host's byte order.
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

    /// /proc/net/igmp6: index, interface, group in hexadecimal digits, ...
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
    /// As `%08X` prints the bytes of an address that stands in memory in network order.
    fileprivate var byteSwappedHex: String {
        let digits = String(bigEndian, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
