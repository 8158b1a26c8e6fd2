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

    static let flagRequest: UInt16 = 0x1
    static let flagDumpInterrupted: UInt16 = 0x10
    static let flagDump: UInt16 = 0x300

    static let linkAddress: UInt16 = 1
    static let linkName: UInt16 = 3
    static let linkCarrierChanges: UInt16 = 35
    static let addressAddress: UInt16 = 1
    static let addressLocal: UInt16 = 2
    static let addressFlags: UInt16 = 8
    /// The two upper bits of an attribute's type say how it is nested and ordered.
    static let attributeTypeMask: UInt16 = 0x3FFF

    static let familyUnspecified: UInt8 = 0
    static let familyIPv4: UInt8 = 2
    static let familyIPv6: UInt8 = 10

    /// IFA_F_DADFAILED and IFA_F_TENTATIVE: not yet, or never, an address to send from.
    static let addressUnusable: UInt32 = 0x08 | 0x40
    /// IFA_F_OPTIMISTIC: tentative, but allowed to send (RFC 4429).
    static let addressOptimistic: UInt32 = 0x04

    /// A request for the whole table of links or addresses.
    static func dumpRequest(type: UInt16, sequence: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        // The general header of rtnetlink is one byte, the family; strict kernels want the full header of the type.
        let body = type == getLink ? linkHeaderSize : addressHeaderSize
        append(UInt32(headerSize + body), to: &bytes)
        append(type, to: &bytes)
        append(flagRequest | flagDump, to: &bytes)
        append(sequence, to: &bytes)
        append(UInt32(0), to: &bytes)
        bytes += [UInt8](repeating: 0, count: body)
        return bytes
    }

    private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        // Netlink talks in the byte order of the host.
        withUnsafeBytes(of: value) { bytes += $0 }
    }
}
