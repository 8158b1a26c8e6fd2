import DNSWire

/// How long messages may be, in bytes.
enum PacketSize {
    /// What fits into one Ethernet frame behind an IPv6 and a UDP header: RFC 6762 §17 wants packets unfragmented.
    static let usual = 1500 - 40 - 8
    /// For a single record that does not fit into a frame (RFC 6762 §17).
    static let largest = RFC6762.packetLimit - 40 - 8
    /// What every legacy resolver can take (RFC 1035 §4.2.1).
    static let legacy = 512
}

extension Record {
    /// The record's length when its owner name and a name in its data are compressed as far as they usually are.
    var estimatedLength: Int {
        let header = 12
        return switch data {
        case .a: header + 4
        case .aaaa: header + 16
        case .ptr(let name): header + name.firstLabel.count + 3
        case .srv: header + 6 + 2
        case .txt(let strings), .other(_, let strings): header + strings.count
        case .nsec: header + 2 + 8
        }
    }
}
