package import DNSWire

/// The mark of addresses and routes that this program sets. The program recognizes them later by the mark, and `ip
/// addr` and `ip route` show it as "proto 80".
package enum RouteProtocol {
    /// rtm_protocol and IFA_PROTO: 0x50, "P". It is not listed in /etc/iproute2, and is outside of the kernel's
    /// reserved range.
    package static let plug: UInt8 = 0x50
}

/// An address to add to an interface. The request forbids the kernel to add its own route for an IPv4 address: that
/// route would have a different source or metric than this program's route, and would take precedence.
package struct KernelAddress: Hashable, Sendable {
    /// The scope of an address (rtnetlink(7)).
    package enum Scope: Hashable, Sendable { case link, global }

    /// The index of the interface.
    package var interface: Int32
    /// The address.
    package var address: IPAddress
    /// The length of the network prefix in bits.
    package var prefixLength: UInt8
    /// The broadcast address; only for IPv4.
    package var broadcast: IPv4Address?
    /// The scope of the address.
    package var scope: Scope
    /// False if new connections must not use it while another address exists.
    package var isPreferred: Bool
    /// The valid lifetime, rounded up to whole seconds; nil for no limit.
    package var validFor: Duration?

    /// Creates an address.
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
    /// The index of the interface.
    package var interface: Int32
    /// The network of the destination.
    package var destination: IPv4Address
    /// The length of the destination's prefix in bits.
    package var prefixLength: UInt8
    /// The gateway; nil if the destination is on the link.
    package var router: IPv4Address?
    /// The preferred source address, or nil if the kernel chooses it.
    package var source: IPv4Address?
    /// The metric; lower values take precedence.
    package var metric: UInt32

    /// Creates a route.
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

/// A change of the kernel's configuration (rtnetlink(7)); ``encoded(sequence:)`` returns the message.
package enum RouteRequest: Hashable, Sendable {
    /// Sets the interface up.
    case linkUp(interface: Int32)
    /// Adds the address, or changes its lifetime.
    case put(KernelAddress)
    /// Removes the address.
    case removeAddress(interface: Int32, IPAddress, prefixLength: UInt8)
    /// Adds a route with the mark ``RouteProtocol/plug``. An existing equal route is an error (EEXIST).
    case add(InterfaceRoute)
    /// Removes a route with the mark ``RouteProtocol/plug``.
    case remove(InterfaceRoute)

    /// Returns the netlink message, with a request for an acknowledgement.
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
            // The new flags and the mask of changed flags.
            Netlink.append(Netlink.linkUp, to: &body)
            Netlink.append(Netlink.linkUp, to: &body)
            return (Netlink.newLink, 0, body)
        case .put(let address):
            return (Netlink.newAddress, Netlink.flagCreate | Netlink.flagReplace, address.body)
        case .removeAddress(let interface, let address, let prefixLength):
            let gone = KernelAddress(interface: interface, address: address, prefixLength: prefixLength)
            return (Netlink.deleteAddress, 0, gone.header + gone.identity)
        // NLM_F_REPLACE would remove a route of the same metric through another interface; NLM_F_CREATE without
        // NLM_F_APPEND would insert the new route before that one.
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

    /// Rounds up to whole seconds. The result is at least 1, because the kernel refuses 0, and less than the number
    /// that means no limit.
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
