import DNSWire

/// The reason why bytes are not a netlink message, with the offset.
struct NetlinkError: Error, Hashable {
    enum Reason: Hashable {
        case truncatedHeader
        /// The length is smaller than the header or exceeds the datagram.
        case badLength(UInt32)
        case truncatedBody
        case badAttributeLength(UInt16)
        case badAddress
    }

    var offset: Int
    var reason: Reason
}

/// Parses the messages of one datagram.
func parseNetlink(_ bytes: [UInt8]) throws(NetlinkError) -> [NetlinkMessage] {
    var messages: [NetlinkMessage] = []
    var offset = 0
    while offset < bytes.count {
        guard bytes.count - offset >= Netlink.headerSize else {
            throw NetlinkError(offset: offset, reason: .truncatedHeader)
        }
        let length = bytes.load(UInt32.self, at: offset)
        guard length >= Netlink.headerSize, length <= bytes.count - offset else {
            throw NetlinkError(offset: offset, reason: .badLength(length))
        }
        let end = offset + Int(length)
        let body = try parseBody(
            bytes, type: bytes.load(UInt16.self, at: offset + 4), offset + Netlink.headerSize..<end)
        let flags = bytes.load(UInt16.self, at: offset + 6)
        messages.append(
            NetlinkMessage(
                sequence: bytes.load(UInt32.self, at: offset + 8),
                isInterruptedDump: flags & Netlink.flagDumpInterrupted != 0, body: body))
        offset = aligned(end)
    }
    return messages
}

private func parseBody(_ bytes: [UInt8], type: UInt16, _ range: Range<Int>) throws(NetlinkError) -> NetlinkMessage.Body
{
    switch type {
    case Netlink.done: return .done
    case Netlink.overrun: return .overrun
    case Netlink.error:
        try require(4, in: range)
        // The kernel sends the negative error number.
        return .refused(code: 0 &- bytes.load(Int32.self, at: range.lowerBound))
    case Netlink.newLink, Netlink.deleteLink:
        return try parseLink(bytes, isRemoval: type == Netlink.deleteLink, range)
    case Netlink.newAddress, Netlink.deleteAddress:
        return try parseAddress(bytes, isRemoval: type == Netlink.deleteAddress, range)
    case Netlink.newRoute: return try parseRoute(bytes, range)
    case Netlink.newNeighbour: return try parseNeighbour(bytes, range)
    default: return .other
    }
}

private func parseLink(_ bytes: [UInt8], isRemoval: Bool, _ range: Range<Int>) throws(NetlinkError)
    -> NetlinkMessage.Body
{
    try require(Netlink.linkHeaderSize, in: range)
    // A port that leaves a bridge is reported as the removal of a link of the bridge family, but the link still exists.
    guard bytes[range.lowerBound] == Netlink.familyUnspecified else { return .other }
    let index = bytes.load(Int32.self, at: range.lowerBound + 4)
    guard !isRemoval else { return .linkRemoved(index: index) }
    var link = LinkDescription(index: index, flags: .init(rawValue: bytes.load(UInt32.self, at: range.lowerBound + 8)))
    for attribute in try attributes(bytes, range.lowerBound + Netlink.linkHeaderSize..<range.upperBound) {
        let value = bytes[attribute.range]
        switch attribute.type {
        case Netlink.linkName: link.name = String(decoding: value.prefix { $0 != 0 }, as: UTF8.self)
        case Netlink.linkAddress: link.hardwareAddress = Array(value)
        case Netlink.linkCarrierChanges:
            try require(4, in: attribute.range)
            link.carrierChanges = bytes.load(UInt32.self, at: attribute.range.lowerBound)
        default: continue
        }
    }
    return .link(link)
}

private func parseAddress(
    _ bytes: [UInt8], isRemoval: Bool, _ range: Range<Int>
) throws(NetlinkError) -> NetlinkMessage.Body {
    try require(Netlink.addressHeaderSize, in: range)
    let family = bytes[range.lowerBound]
    guard family == Netlink.familyIPv4 || family == Netlink.familyIPv6 else { return .other }
    let prefixLength = bytes[range.lowerBound + 1]
    var flags = UInt32(bytes[range.lowerBound + 2])
    var local: [UInt8]?
    var address: [UInt8]?
    var origin: UInt8?
    for attribute in try attributes(bytes, range.lowerBound + Netlink.addressHeaderSize..<range.upperBound) {
        switch attribute.type {
        case Netlink.addressLocal: local = Array(bytes[attribute.range])
        case Netlink.addressAddress: address = Array(bytes[attribute.range])
        case Netlink.addressFlags:
            try require(4, in: attribute.range)
            flags = bytes.load(UInt32.self, at: attribute.range.lowerBound)
        case Netlink.addressOrigin: origin = bytes[attribute.range].first
        default: continue
        }
    }
    // On a point-to-point link, IFA_ADDRESS is the peer and IFA_LOCAL is this host. On other links one of the two may
    // be missing.
    guard let own = local ?? address, own.count == (family == Netlink.familyIPv4 ? 4 : 16) else {
        throw NetlinkError(offset: range.lowerBound, reason: .badAddress)
    }
    let index = bytes.load(Int32.self, at: range.lowerBound + 4)
    let described = LinuxAddress(
        bytes: own, prefixLength: prefixLength, state: state(of: flags),
        origin: LinuxAddress.Origin(mark: origin, flags: flags, isIPv6: family == Netlink.familyIPv6),
        isDeprecated: flags & Netlink.addressDeprecated != 0)
    return isRemoval ? .addressRemoved(index: index, described) : .address(index: index, described)
}

private func state(of flags: UInt32) -> LinuxAddress.State {
    if flags & Netlink.addressDuplicate != 0 { return .duplicate }
    return flags & Netlink.addressTentative != 0 && flags & Netlink.addressOptimistic == 0 ? .tentative : .usable
}

extension LinuxAddress.Origin {
    /// Determines the origin. Kernels before 5.18 have no IFA_PROTO; there an IPv6 address with a lifetime counts as
    /// one from a router advertisement.
    fileprivate init(mark: UInt8?, flags: UInt32, isIPv6: Bool) {
        switch mark {
        case RouteProtocol.plug?: self = .plug
        case let mark? where Netlink.addressOfKernel.contains(mark): self = .kernel
        default: self = isIPv6 && flags & Netlink.addressPermanent == 0 ? .kernel : .unknown
        }
    }
}

private func parseRoute(_ bytes: [UInt8], _ range: Range<Int>) throws(NetlinkError) -> NetlinkMessage.Body {
    try require(Netlink.routeHeaderSize, in: range)
    let start = range.lowerBound
    guard bytes[start] == Netlink.familyIPv4, bytes[start + 4] == Netlink.routeTableMain,
        bytes[start + 7] == Netlink.routeUnicast
    else { return .other }
    var route = InterfaceRoute(interface: 0, destination: .init(rawValue: 0), prefixLength: bytes[start + 1])
    for attribute in try attributes(bytes, start + Netlink.routeHeaderSize..<range.upperBound) {
        switch attribute.type {
        case Netlink.routeDestination: route.destination = try address(bytes, attribute.range)
        case Netlink.routeGateway: route.router = try address(bytes, attribute.range)
        case Netlink.routeSource: route.source = try address(bytes, attribute.range)
        case Netlink.routeInterface:
            try require(4, in: attribute.range)
            route.interface = bytes.load(Int32.self, at: attribute.range.lowerBound)
        case Netlink.routeMetric:
            try require(4, in: attribute.range)
            route.metric = bytes.load(UInt32.self, at: attribute.range.lowerBound)
        default: continue
        }
    }
    return .route(RouteDescription(origin: bytes[start + 5], route: route))
}

private func parseNeighbour(_ bytes: [UInt8], _ range: Range<Int>) throws(NetlinkError) -> NetlinkMessage.Body {
    try require(Netlink.neighbourHeaderSize, in: range)
    let start = range.lowerBound
    guard bytes.load(UInt16.self, at: start + 8) & Netlink.neighbourKnown != 0 else { return .other }
    var (address, card, age): (IPAddress?, MACAddress?, UInt32?)
    for attribute in try attributes(bytes, start + Netlink.neighbourHeaderSize..<range.upperBound) {
        switch attribute.type {
        case Netlink.neighbourAddress: address = IPAddress(bytes: bytes[attribute.range])
        case Netlink.neighbourCard: card = MACAddress(bytes: bytes[attribute.range])
        case Netlink.neighbourTimes:
            try require(4, in: attribute.range)
            age = bytes.load(UInt32.self, at: attribute.range.lowerBound)
        default: continue
        }
    }
    // A neighbour on a link that is not Ethernet has no MAC address of six bytes.
    guard let address, let card, let age else { return .other }
    // The kernel counts in hundredths of a second (USER_HZ).
    return .neighbour(
        Neighbour(
            interface: bytes.load(Int32.self, at: start + 4), address: address, card: card,
            confirmed: .milliseconds(10 * Int64(age))))
}

private func address(_ bytes: [UInt8], _ range: Range<Int>) throws(NetlinkError) -> IPv4Address {
    guard case .v4(let address)? = IPAddress(bytes: bytes[range]) else {
        throw NetlinkError(offset: range.lowerBound, reason: .badAddress)
    }
    return address
}

private struct Attribute {
    var type: UInt16
    var range: Range<Int>
}

private func attributes(_ bytes: [UInt8], _ range: Range<Int>) throws(NetlinkError) -> [Attribute] {
    var found: [Attribute] = []
    var offset = range.lowerBound
    while range.upperBound - offset >= Netlink.attributeHeaderSize {
        let length = bytes.load(UInt16.self, at: offset)
        guard length >= Netlink.attributeHeaderSize, Int(length) <= range.upperBound - offset else {
            throw NetlinkError(offset: offset, reason: .badAttributeLength(length))
        }
        let end = offset + Int(length)
        found.append(
            Attribute(
                type: bytes.load(UInt16.self, at: offset + 2) & Netlink.attributeTypeMask,
                range: offset + Netlink.attributeHeaderSize..<end))
        offset = aligned(end)
    }
    return found
}

/// Rounds up to a multiple of four bytes, to which netlink pads messages and attributes. The last message or attribute
/// may lack its padding.
private func aligned(_ offset: Int) -> Int { (offset + 3) & ~3 }

private func require(_ count: Int, in range: Range<Int>) throws(NetlinkError) {
    guard range.count >= count else { throw NetlinkError(offset: range.lowerBound, reason: .truncatedBody) }
}

extension [UInt8] {
    /// Reads an integer in the host's byte order. The caller has checked that the bytes exist.
    fileprivate func load<Value: FixedWidthInteger & BitwiseCopyable>(_: Value.Type, at offset: Int) -> Value {
        withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Value.self) }
    }
}
