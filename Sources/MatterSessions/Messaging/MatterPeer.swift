/// The address of a peer, as the UDP socket reports it.
public struct MatterPeer: Hashable, Sendable, CustomStringConvertible {
    /// The address: 4 bytes (IPv4) or 16 bytes (IPv6).
    public var address: [UInt8]
    /// The interface index of a link-local address; 0 otherwise.
    public var scope: UInt32
    /// The UDP port.
    public var port: UInt16

    /// Creates a peer from its address.
    public init(address: [UInt8], scope: UInt32 = 0, port: UInt16) {
        (self.address, self.scope, self.port) = (address, scope, port)
    }

    public var description: String {
        let isShort = address.count == 4
        let parts =
            isShort
            ? address.map { String($0) }
            : stride(from: 0, to: address.count, by: 2).map { start in
                String(address[start...].prefix(2).reduce(0) { $0 << 8 | Int($1) }, radix: 16)
            }
        let text = parts.joined(separator: isShort ? "." : ":")
        let zone = scope == 0 ? "" : "%\(scope)"
        return isShort ? "\(text):\(port)" : "[\(text)\(zone)]:\(port)"
    }

    /// True if both peers use the same address. A host can change its port at any time, so limits per host ignore it.
    func isSameHost(as other: MatterPeer) -> Bool { address == other.address && scope == other.scope }
}
