import DNSWire

/// Size limits of messages in bytes.
enum PacketSize {
    /// The space in one Ethernet frame after an IPv6 and a UDP header, since RFC 6762 §17 recommends unfragmented
    /// packets.
    static let usual = 1500 - 40 - 8
    /// The limit for a single record that does not fit into a frame (RFC 6762 §17).
    static let largest = RFC6762.packetLimit - 40 - 8
    /// The size that every legacy resolver accepts (RFC 1035 §4.2.1).
    static let legacy = 512
}

extension Record {
    /// The record's length with the usual compression of its owner name and of a name in its data.
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
