public import DNSWire

/// The type of a DHCP message (RFC 2132 §9.6).
public enum DHCPMessageType: UInt8, Hashable, Sendable {
    case discover = 1, offer, request, decline, ack, nak, release, inform
}

/// Typed access to the options. An option is nil if it is missing or its content is malformed; assigning nil removes
/// it.
extension DHCPOptions {
    /// The type of the message (option 53).
    public var messageType: DHCPMessageType? {
        get { byte(.messageType).flatMap(DHCPMessageType.init) }
        set { self[.messageType] = newValue.map { [$0.rawValue] } }
    }

    /// The address of the server (option 54).
    public var serverIdentifier: IPv4Address? {
        get { address(.serverIdentifier) }
        set { self[.serverIdentifier] = newValue?.bytes }
    }

    /// The address that the client requests (option 50).
    public var requestedAddress: IPv4Address? {
        get { address(.requestedAddress) }
        set { self[.requestedAddress] = newValue?.bytes }
    }

    /// The lease time in seconds; 0xFFFFFFFF means unlimited (RFC 2131 §3.3).
    public var leaseTime: UInt32? {
        get { number(.leaseTime) }
        set { self[.leaseTime] = newValue.map { networkOrder($0) } }
    }

    /// T1, in seconds after the start of the lease.
    public var renewalTime: UInt32? {
        get { number(.renewalTime) }
        set { self[.renewalTime] = newValue.map { networkOrder($0) } }
    }

    /// T2, in seconds after the start of the lease.
    public var rebindingTime: UInt32? {
        get { number(.rebindingTime) }
        set { self[.rebindingTime] = newValue.map { networkOrder($0) } }
    }

    /// The subnet mask (option 1).
    public var subnetMask: IPv4Address? {
        get { address(.subnetMask) }
        set { self[.subnetMask] = newValue?.bytes }
    }

    /// The broadcast address of the network (option 28).
    public var broadcastAddress: IPv4Address? {
        get { address(.broadcastAddress) }
        set { self[.broadcastAddress] = newValue?.bytes }
    }

    /// The routers, preferred one first.
    public var routers: [IPv4Address]? {
        get { addresses(.routers) }
        set { self[.routers] = newValue?.flatMap(\.bytes) }
    }

    /// The name servers, preferred one first.
    public var domainNameServers: [IPv4Address]? {
        get { addresses(.domainNameServers) }
        set { self[.domainNameServers] = newValue?.flatMap(\.bytes) }
    }

    /// The time servers, preferred one first.
    public var ntpServers: [IPv4Address]? {
        get { addresses(.ntpServers) }
        set { self[.ntpServers] = newValue?.flatMap(\.bytes) }
    }

    /// The static routes (RFC 3442). An empty list is malformed.
    public var staticRoutes: [ClasslessRoute]? {
        get { self[.staticRoutes].flatMap(ClasslessRoute.list(decoding:)) }
        set { self[.staticRoutes] = newValue?.flatMap(\.encoded) }
    }

    /// The domain name: letters, digits, hyphens and underscores between dots, because other programs read it from
    /// files.
    public var domainName: String? {
        get { text(.domainName).flatMap(DomainList.name(presentation:)) }
        set { self[.domainName] = newValue.map { Array($0.utf8) } }
    }

    /// The search domains (RFC 3397). Encoding uses no compression and omits texts that are not domain names. Decoding
    /// returns at most ``DomainList/limit`` names.
    public var searchDomains: [String]? {
        get { self[.searchDomains].flatMap(DomainList.names(decoding:)) }
        set { self[.searchDomains] = newValue.map(DomainList.encode) }
    }

    /// The client's host name (option 12).
    public var hostName: String? {
        get { text(.hostName) }
        set { self[.hostName] = newValue.map { Array($0.utf8) } }
    }

    /// The human-readable error of a NAK or a DECLINE.
    public var message: String? {
        get { text(.message) }
        set { self[.message] = newValue.map { Array($0.utf8) } }
    }

    /// The kind of device of the client.
    public var vendorClass: String? {
        get { text(.vendorClass) }
        set { self[.vendorClass] = newValue.map { Array($0.utf8) } }
    }

    /// The client identifier (RFC 4361): the type 255, an interface's number and a device's identifier. At least two
    /// bytes (RFC 2132 §9.14).
    public var clientIdentifier: [UInt8]? {
        get { self[.clientIdentifier].flatMap { $0.count >= 2 ? $0 : nil } }
        set { self[.clientIdentifier] = newValue }
    }

    /// The options that the client requests (option 55).
    public var parameterRequestList: [DHCPOptionCode]? {
        get { self[.parameterRequestList]?.map(DHCPOptionCode.init) }
        set { self[.parameterRequestList] = newValue?.map(\.rawValue) }
    }

    /// The maximum message size in bytes, at least 576 (RFC 2132 §9.10).
    public var maximumMessageSize: UInt16? {
        get {
            guard let data = self[.maximumMessageSize], data.count == 2 else { return nil }
            let size = UInt16(data[0]) << 8 | UInt16(data[1])
            return size >= 576 ? size : nil
        }
        set { self[.maximumMessageSize] = newValue.map { networkOrder($0) } }
    }

    private func byte(_ code: DHCPOptionCode) -> UInt8? {
        self[code].flatMap { $0.count == 1 ? $0[0] : nil }
    }

    private func number(_ code: DHCPOptionCode) -> UInt32? {
        self[code].flatMap { $0.count == 4 ? $0.reduce(0) { $0 << 8 | UInt32($1) } : nil }
    }

    private func address(_ code: DHCPOptionCode) -> IPv4Address? { number(code).map(IPv4Address.init(rawValue:)) }

    private func addresses(_ code: DHCPOptionCode) -> [IPv4Address]? {
        guard let data = self[code], !data.isEmpty, data.count % 4 == 0 else { return nil }
        return stride(from: 0, to: data.count, by: 4).map {
            IPv4Address(data[$0], data[$0 + 1], data[$0 + 2], data[$0 + 3])
        }
    }

    /// Decodes text; nil if it is empty, is not UTF-8 or contains control characters. Zeros at its end are removed,
    /// because some servers append them (RFC 2132 §2).
    private func text(_ code: DHCPOptionCode) -> String? {
        guard var data = self[code]?[...] else { return nil }
        while data.last == 0 { data = data.dropLast() }
        guard !data.isEmpty, let text = String(validating: data, as: UTF8.self) else { return nil }
        let isPrintable = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
        return isPrintable ? text : nil
    }
}
