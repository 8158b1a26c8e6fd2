import DNSWire

/// A request in NAT-PMP (RFC 6886 §3).
enum NATPMPRequest: Hashable, Sendable {
    case externalAddress
    /// The lifetime is in seconds; 0 removes the mapping.
    case mapping(internalPort: UInt16, externalPort: UInt16, lifetime: UInt32)

    var encoded: [UInt8] {
        switch self {
        case .externalAddress: [NATPMP.version, NATPMP.externalAddress]
        case .mapping(let internalPort, let externalPort, let lifetime):
            [NATPMP.version, NATPMP.mapTCP, 0, 0] + bigEndian(internalPort) + bigEndian(externalPort)
                + bigEndian(lifetime)
        }
    }
}

/// A message of a router in NAT-PMP (RFC 6886 §3.2, §3.3).
struct NATPMPResponse: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        /// The answer to a request, or an announcement after a start or a change of the address (§3.2.1).
        case externalAddress(IPAddress)
        /// The lifetime is in seconds.
        case mapping(internalPort: UInt16, externalPort: UInt16, lifetime: UInt32)
        /// The request failed with a code of §3.5.
        case failure(code: UInt16)
    }

    /// The seconds since the router lost its mappings.
    let epoch: UInt32
    let content: Content

    /// Decodes a response, or returns nil if the bytes are not one.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 8, bytes[0] == NATPMP.version, bytes[1] & 0x80 != 0 else { return nil }
        let code = UInt16(number(bytes[2..<4]))
        epoch = number(bytes[4..<8])
        switch bytes[1] & 0x7F {
        case _ where code != 0: content = .failure(code: code)
        case NATPMP.externalAddress:
            guard bytes.count >= 12, let address = IPAddress(bytes: bytes[8..<12]) else { return nil }
            content = .externalAddress(address)
        case NATPMP.mapTCP:
            guard bytes.count >= 16 else { return nil }
            content = .mapping(
                internalPort: UInt16(number(bytes[8..<10])), externalPort: UInt16(number(bytes[10..<12])),
                lifetime: number(bytes[12..<16]))
        default: return nil
        }
    }
}

/// The constants of RFC 6886.
private enum NATPMP {
    static let version: UInt8 = 0
    static let externalAddress: UInt8 = 0
    static let mapTCP: UInt8 = 2
}
