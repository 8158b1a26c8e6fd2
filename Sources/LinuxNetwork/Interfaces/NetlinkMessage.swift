/// A message of rtnetlink(7), as far as links and addresses need it.
struct NetlinkMessage: Hashable {
    var sequence: UInt32
    /// The kernel's tables changed while it listed them, so the list may lack an entry or have one twice.
    var isInterruptedDump: Bool
    var body: Body

    enum Body: Hashable {
        case link(LinkDescription)
        case linkRemoved(index: Int32)
        case address(index: Int32, LinuxAddress)
        case addressRemoved(index: Int32, LinuxAddress)
        case route(RouteDescription)
        /// A dump is complete.
        case done
        /// The kernel refused a request, with its error number; 0 acknowledges.
        case refused(code: Int32)
        /// The kernel dropped messages for lack of room.
        case overrun
        /// Well-formed, and of no interest here.
        case other
    }
}

/// A link's description; nil where the message says nothing, as the wireless extensions' events do.
struct LinkDescription: Hashable {
    var index: Int32
    var flags: LinuxInterface.Flags
    var name: String?
    var hardwareAddress: [UInt8]?
    var carrierChanges: UInt32?
}

/// A unicast IPv4 route of the main table.
struct RouteDescription: Hashable {
    /// Who set it (rtm_protocol).
    var origin: UInt8
    var route: InterfaceRoute
}

/// Numbers of linux/netlink.h, rtnetlink.h, if_link.h and if_addr.h.
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
    static let routeDestination: UInt16 = 1
    static let routeInterface: UInt16 = 4
    static let routeGateway: UInt16 = 5
    static let routeMetric: UInt16 = 6
    static let routeSource: UInt16 = 7
    /// The two upper bits of an attribute's type say how it is nested and ordered.
    static let attributeTypeMask: UInt16 = 0x3FFF

    static let familyUnspecified: UInt8 = 0
    static let familyIPv4: UInt8 = 2
    static let familyIPv6: UInt8 = 10

    /// IFA_F_DADFAILED and IFA_F_TENTATIVE: never, or not yet, an address to send from.
    static let addressDuplicate: UInt32 = 0x08
    static let addressTentative: UInt32 = 0x40
    /// IFA_F_OPTIMISTIC: tentative, but allowed to send (RFC 4429).
    static let addressOptimistic: UInt32 = 0x04
    /// IFA_F_DEPRECATED: nothing new is to begin from it.
    static let addressDeprecated: UInt32 = 0x20
    /// IFA_F_PERMANENT: it has no end. What routers announce has one.
    static let addressPermanent: UInt32 = 0x80
    /// IFA_F_NOPREFIXROUTE: no route to its network comes with it.
    static let addressWithoutRoute: UInt32 = 0x200
    /// IFAPROT_KERNEL_LO, _RA and _LL.
    static let addressOfKernel: ClosedRange<UInt8> = 1...3

    static let linkUp: UInt32 = 0x1
    static let routeTableMain: UInt8 = 254
    static let routeUnicast: UInt8 = 1
    static let scopeUniverse: UInt8 = 0
    static let scopeLink: UInt8 = 253
    /// RTNH_F_ONLINK: the gateway is on the link, whatever the prefixes say. So the order in which routes are set does not matter.
    static let routeOnLink: UInt32 = 4
    static let routeHeaderSize = 12

    /// A request for the whole table of links or addresses.
    static func dumpRequest(type: UInt16, sequence: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        // The general header of rtnetlink is one byte, the family; strict kernels want the full header of the type.
        let body =
            switch type {
            case getLink: linkHeaderSize
            case getRoute: routeHeaderSize
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
        // Netlink talks in the byte order of the host.
        withUnsafeBytes(of: value) { bytes += $0 }
    }
}
