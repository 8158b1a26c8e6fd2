package import DNSWire

/// Marks of the addresses and routes that are ours, for us to know them again and for people who look: `ip addr` and
/// `ip route` show them as "proto 80".
package enum RouteProtocol {
    /// rtm_protocol and IFA_PROTO: 0x50, "P". In no list of /etc/iproute2, and beyond what the kernel keeps for itself.
    package static let plug: UInt8 = 0x50
}

/// An address to be given to an interface. The kernel makes no route to the network of an IPv4 address: its own would have
/// another source or metric than the one that is wanted, and go before it.
package struct KernelAddress: Hashable, Sendable {
    package enum Scope: Hashable, Sendable { case link, global }

    package var interface: Int32
    package var address: IPAddress
    /// Bits.
    package var prefixLength: UInt8
    /// IPv4 only.
    package var broadcast: IPv4Address?
    package var scope: Scope
    /// False: nothing new begins from it while there is another.
    package var isPreferred: Bool
    /// Whole seconds, rounded up; nil: for ever.
    package var validFor: Duration?

    package init(
        interface: Int32, address: IPAddress, prefixLength: UInt8, broadcast: IPv4Address? = nil,
        scope: Scope = .global, isPreferred: Bool = true, validFor: Duration? = nil
    ) {
        self.interface = interface
        self.address = address
        self.prefixLength = prefixLength
        self.broadcast = broadcast
        self.scope = scope
        self.isPreferred = isPreferred
        self.validFor = validFor
    }
}

/// An IPv4 route through an interface.
package struct InterfaceRoute: Hashable, Sendable {
    package var interface: Int32
    package var destination: IPv4Address
    package var prefixLength: UInt8
    /// Nil: what is there is on the link.
    package var router: IPv4Address?
    package var source: IPv4Address?
    package var metric: UInt32

    package init(
        interface: Int32, destination: IPv4Address, prefixLength: UInt8, router: IPv4Address? = nil,
        source: IPv4Address? = nil, metric: UInt32 = 0
    ) {
        self.interface = interface
        self.destination = destination
        self.prefixLength = prefixLength
        self.router = router
        self.source = source
        self.metric = metric
    }
}

/// What the kernel is asked to change (rtnetlink(7)); ``encoded(sequence:)`` is the message.
package enum RouteRequest: Hashable, Sendable {
    case linkUp(interface: Int32)
    /// Adds the address, or changes how long it lasts.
    case put(KernelAddress)
    case removeAddress(interface: Int32, IPAddress, prefixLength: UInt8)
    /// Adds a route with the mark ``RouteProtocol/plug``. One that is there already is an error (EEXIST).
    case add(InterfaceRoute)
    /// Removes one with our mark.
    case remove(InterfaceRoute)

    package func encoded(sequence: UInt32) -> [UInt8] {
        let (type, flags, body) = content
        var bytes: [UInt8] = []
        Netlink.appendHeader(
            type, Netlink.flagRequest | Netlink.flagAcknowledge | flags, sequence, bodySize: body.count, to: &bytes)
        return bytes + body
    }

    private var content: (type: UInt16, flags: UInt16, body: [UInt8]) {
        switch self {
        case .linkUp(let interface):
            var body: [UInt8] = [Netlink.familyUnspecified, 0, 0, 0]
            Netlink.append(interface, to: &body)
            // The flags, and which of them are meant.
            Netlink.append(Netlink.linkUp, to: &body)
            Netlink.append(Netlink.linkUp, to: &body)
            return (Netlink.newLink, 0, body)
        case .put(let address):
            return (Netlink.newAddress, Netlink.flagCreate | Netlink.flagReplace, address.body)
        case .removeAddress(let interface, let address, let prefixLength):
            let gone = KernelAddress(interface: interface, address: address, prefixLength: prefixLength)
            return (Netlink.deleteAddress, 0, gone.header + gone.identity)
        // Replacing would take a route of the same metric through another interface away; so would creating alone put ours
        // before it.
        case .add(let route): return (Netlink.newRoute, Netlink.flagCreate | Netlink.flagAppend, route.body)
        case .remove(let route): return (Netlink.deleteRoute, 0, route.body)
        }
    }
}

extension KernelAddress {
    fileprivate var header: [UInt8] {
        let family = address.family == .v4 ? Netlink.familyIPv4 : Netlink.familyIPv6
        var bytes: [UInt8] = [family, prefixLength, 0, scope.number]
        Netlink.append(interface, to: &bytes)
        return bytes
    }

    fileprivate var identity: [UInt8] {
        attribute(Netlink.addressLocal, address.bytes) + attribute(Netlink.addressAddress, address.bytes)
    }

    fileprivate var body: [UInt8] {
        var bytes = header + identity
        if let broadcast { bytes += attribute(Netlink.addressBroadcast, broadcast.bytes) }
        var lifetimes: [UInt8] = []
        let valid = validFor.map(Self.seconds) ?? .max
        for number in [isPreferred ? valid : 0, valid, 0, 0] { Netlink.append(number, to: &lifetimes) }
        bytes += attribute(Netlink.addressLifetimes, lifetimes)
        if address.family == .v4 { bytes += attribute(Netlink.addressFlags, Netlink.addressWithoutRoute) }
        return bytes + attribute(Netlink.addressOrigin, [RouteProtocol.plug])
    }

    /// At least 1, since 0 is refused, and less than the number that means for ever.
    private static func seconds(_ duration: Duration) -> UInt32 {
        let whole = (duration + .nanoseconds(999_999_999)).components.seconds
        return UInt32(clamping: min(max(whole, 1), Int64(UInt32.max) - 1))
    }
}

extension KernelAddress.Scope {
    fileprivate var number: UInt8 {
        switch self {
        case .link: Netlink.scopeLink
        case .global: Netlink.scopeUniverse
        }
    }
}

extension InterfaceRoute {
    fileprivate var body: [UInt8] {
        let scope = router == nil ? Netlink.scopeLink : Netlink.scopeUniverse
        var bytes: [UInt8] = [
            Netlink.familyIPv4, prefixLength, 0, 0, Netlink.routeTableMain, RouteProtocol.plug, scope,
            Netlink.routeUnicast,
        ]
        Netlink.append(router == nil ? UInt32(0) : Netlink.routeOnLink, to: &bytes)
        if prefixLength > 0 { bytes += attribute(Netlink.routeDestination, destination.bytes) }
        bytes += attribute(Netlink.routeInterface, interface)
        if let router { bytes += attribute(Netlink.routeGateway, router.bytes) }
        if let source { bytes += attribute(Netlink.routeSource, source.bytes) }
        return bytes + attribute(Netlink.routeMetric, metric)
    }
}

private func attribute(_ type: UInt16, _ value: some FixedWidthInteger) -> [UInt8] {
    var bytes: [UInt8] = []
    Netlink.append(value, to: &bytes)
    return attribute(type, bytes)
}

private func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    Netlink.append(UInt16(Netlink.attributeHeaderSize + value.count), to: &bytes)
    Netlink.append(type, to: &bytes)
    bytes += value
    return bytes + [UInt8](repeating: 0, count: -value.count & 3)
}
