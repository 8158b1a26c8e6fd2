/// A message of rtnetlink(7), with the fields of links, addresses and routes that are used here.
struct NetlinkMessage: Hashable {
    var sequence: UInt32
    /// True if the kernel's table changed during the dump, so that an entry may be missing or repeated.
    var isInterruptedDump: Bool
    var body: Body

    enum Body: Hashable {
        case link(LinkDescription)
        case linkRemoved(index: Int32)
        case address(index: Int32, LinuxAddress)
        case addressRemoved(index: Int32, LinuxAddress)
        case route(RouteDescription)
        case neighbour(Neighbour)
        /// A dump is complete.
        case done
        /// The kernel's answer to a request: an error number, or 0 for an acknowledgement.
        case refused(code: Int32)
        /// The kernel dropped messages because the socket's buffer was full.
        case overrun
        /// A well-formed message that is not used here.
        case other
    }
}

/// A description of a link. A field is nil if the message does not contain it, as in events of the wireless extensions.
struct LinkDescription: Hashable {
    var index: Int32
    var flags: LinuxInterface.Flags
    var name: String?
    var hardwareAddress: [UInt8]?
    var carrierChanges: UInt32?
}

/// A unicast IPv4 route of the main table.
struct RouteDescription: Hashable {
    /// The program that set the route (rtm_protocol).
    var origin: UInt8
    var route: InterfaceRoute
}

/// Constants of linux/netlink.h, rtnetlink.h, if_link.h and if_addr.h.
enum Netlink {
    static let headerSize = 16
    static let linkHeaderSize = 16
    static let addressHeaderSize = 8
    static let attributeHeaderSize = 4

    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let overrun: UInt16 = 4
    static let newLink: UInt16 = 16
    static let deleteLink: UInt16 = 17
    static let getLink: UInt16 = 18
    static let newAddress: UInt16 = 20
    static let deleteAddress: UInt16 = 21
    static let getAddress: UInt16 = 22
    static let newRoute: UInt16 = 24
    static let deleteRoute: UInt16 = 25
    static let getRoute: UInt16 = 26
    static let newNeighbour: UInt16 = 28
    static let getNeighbour: UInt16 = 30

    static let flagRequest: UInt16 = 0x1
    static let flagAcknowledge: UInt16 = 0x4
    static let flagReplace: UInt16 = 0x100
    static let flagCreate: UInt16 = 0x400
    static let flagAppend: UInt16 = 0x800
    static let flagDumpInterrupted: UInt16 = 0x10
    static let flagDump: UInt16 = 0x300

    static let linkAddress: UInt16 = 1
    static let linkName: UInt16 = 3
    static let linkCarrierChanges: UInt16 = 35
    static let addressAddress: UInt16 = 1
    static let addressLocal: UInt16 = 2
    static let addressBroadcast: UInt16 = 4
    static let addressLifetimes: UInt16 = 6
    static let addressFlags: UInt16 = 8
    static let addressOrigin: UInt16 = 11
    static let neighbourAddress: UInt16 = 1
    static let neighbourCard: UInt16 = 2
    static let neighbourTimes: UInt16 = 3
    static let routeDestination: UInt16 = 1
    static let routeInterface: UInt16 = 4
    static let routeGateway: UInt16 = 5
    static let routeMetric: UInt16 = 6
    static let routeSource: UInt16 = 7
    /// The two upper bits of an attribute's type are flags for nesting and byte order.
    static let attributeTypeMask: UInt16 = 0x3FFF

    static let familyUnspecified: UInt8 = 0
    static let familyIPv4: UInt8 = 2
    static let familyIPv6: UInt8 = 10

    /// IFA_F_DADFAILED: the address is never usable as a source. IFA_F_TENTATIVE: it is not usable yet.
    static let addressDuplicate: UInt32 = 0x08
    static let addressTentative: UInt32 = 0x40
    /// IFA_F_OPTIMISTIC: tentative, but usable as a source (RFC 4429).
    static let addressOptimistic: UInt32 = 0x04
    /// IFA_F_DEPRECATED: new connections should not use the address.
    static let addressDeprecated: UInt32 = 0x20
    /// IFA_F_PERMANENT: no limited lifetime. Addresses from router advertisements have a lifetime.
    static let addressPermanent: UInt32 = 0x80
    /// IFA_F_NOPREFIXROUTE: the kernel adds no route for the address's network.
    static let addressWithoutRoute: UInt32 = 0x200
    /// IFAPROT_KERNEL_LO, IFAPROT_KERNEL_RA and IFAPROT_KERNEL_LL.
    static let addressOfKernel: ClosedRange<UInt8> = 1...3

    static let linkUp: UInt32 = 0x1
    static let routeTableMain: UInt8 = 254
    static let routeUnicast: UInt8 = 1
    static let scopeUniverse: UInt8 = 0
    static let scopeLink: UInt8 = 253
    /// RTNH_F_ONLINK: the gateway is on the link, even if no prefix contains it. So routes can be set in any order.
    static let routeOnLink: UInt32 = 4
    static let routeHeaderSize = 12
    static let neighbourHeaderSize = 12

    /// NUD_REACHABLE, NUD_STALE, NUD_DELAY and NUD_PROBE: the neighbour has answered before.
    static let neighbourKnown: UInt16 = 0x1E

    /// Returns a request for a complete table of links, addresses, routes or neighbours.
    static func dumpRequest(type: UInt16, sequence: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        // rtnetlink's general header is only the family byte, but strict kernels require the complete header of the
        // type.
        let body =
            switch type {
            case getLink: linkHeaderSize
            case getRoute: routeHeaderSize
            case getNeighbour: neighbourHeaderSize
            default: addressHeaderSize
            }
        appendHeader(type, flagRequest | flagDump, sequence, bodySize: body, to: &bytes)
        bytes += [UInt8](repeating: 0, count: body)
        return bytes
    }

    static func appendHeader(
        _ type: UInt16, _ flags: UInt16, _ sequence: UInt32, bodySize: Int, to bytes: inout [UInt8]
    ) {
        append(UInt32(headerSize + bodySize), to: &bytes)
        append(type, to: &bytes)
        append(flags, to: &bytes)
        append(sequence, to: &bytes)
        append(UInt32(0), to: &bytes)
    }

    static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        // Netlink uses the byte order of the host.
        withUnsafeBytes(of: value) { bytes += $0 }
    }
}
