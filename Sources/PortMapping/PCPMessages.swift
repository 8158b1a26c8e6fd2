import DNSWire

/// The nonce of a mapping in PCP. The router accepts renewals and the removal only with the same one (RFC 6887 §11.2).
struct MappingNonce: Hashable, Sendable {
    let bytes: [UInt8]

    static let length = 12

    init(_ random: inout some RandomNumberGenerator) {
        bytes = (0..<Self.length).map { _ in .random(in: .min ... .max, using: &random) }
    }
}

/// The request to map a TCP port by PCP (RFC 6887 §11.1).
struct PCPRequest: Hashable, Sendable {
    /// The requested lifetime in seconds; 0 removes the mapping.
    let lifetime: UInt32
    /// The address of this host in the router's network.
    let client: IPAddress
    let nonce: MappingNonce
    let internalPort: UInt16
    /// The suggested external address and port; nil for any.
    let suggestion: PortMapping?

    var encoded: [UInt8] {
        let address =
            suggestion?.address ?? (client.family == .v4 ? .v4(0, 0, 0, 0) : .v6(IPv6Address(high: 0, low: 0)))
        let operation: [UInt8] = [PCP.version, PCP.map, 0, 0]
        let transport: [UInt8] = [PCP.tcp, 0, 0, 0]
        let ports = bigEndian(internalPort) + bigEndian(suggestion?.port ?? internalPort)
        return operation + bigEndian(lifetime) + PCP.bytes(client) + nonce.bytes + transport + ports
            + PCP.bytes(address)
    }
}

/// A message of a router in PCP (RFC 6887 §7.2).
struct PCPResponse: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        /// The router has started, or lost its mappings (§14.1).
        case announce
        case mapping(nonce: [UInt8], internalPort: UInt16, external: PortMapping)
        /// The request failed with a code of §7.4.
        case failure(code: UInt8)
    }

    /// The lifetime of the mapping, or of the failure, in seconds.
    let lifetime: UInt32
    /// The seconds since the router lost its mappings.
    let epoch: UInt32
    let content: Content

    /// Decodes a response, or returns nil if the bytes are not one.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 24, bytes.count <= PCP.longest, bytes[0] == PCP.version, bytes[1] & 0x80 != 0 else {
            return nil
        }
        lifetime = number(bytes[4..<8])
        epoch = number(bytes[8..<12])
        let (operation, code) = (bytes[1] & 0x7F, bytes[3])
        switch (operation, code) {
        case (PCP.announce, 0): content = .announce
        case (PCP.map, 0):
            guard bytes.count >= 60, bytes[36] == PCP.tcp, let address = PCP.address(bytes[44..<60]) else { return nil }
            content = .mapping(
                nonce: Array(bytes[24..<36]), internalPort: UInt16(number(bytes[40..<42])),
                external: PortMapping(address: address, port: UInt16(number(bytes[42..<44]))))
        case (PCP.map, _): content = .failure(code: code)
        default: return nil
        }
    }
}

/// The constants of RFC 6887.
enum PCP {
    static let version: UInt8 = 2
    static let announce: UInt8 = 0
    static let map: UInt8 = 1
    /// The number of TCP.
    static let tcp: UInt8 = 6
    /// §7: the limit of a message in bytes.
    static let longest = 1100
    /// §7.4: result codes.
    static let unsupportedVersion: UInt8 = 1
    static let addressMismatch: UInt8 = 12

    /// Returns the 16 bytes of an address; an IPv4 address is mapped into IPv6 (§5).
    static func bytes(_ address: IPAddress) -> [UInt8] {
        switch address {
        case .v4: Array(repeating: 0, count: 10) + [0xFF, 0xFF] + address.bytes
        case .v6: address.bytes
        }
    }

    static func address(_ bytes: ArraySlice<UInt8>) -> IPAddress? {
        let isMapped = bytes.prefix(12).elementsEqual(Array(repeating: 0, count: 10) + [0xFF, 0xFF])
        return IPAddress(bytes: isMapped ? bytes.suffix(4) : bytes)
    }
}

/// Returns the number in up to four bytes.
func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }
