import LinuxSystem

@testable import LinuxNetwork

/// Encodes netlink messages as the kernel does.
struct NetlinkBuilder {
    private(set) var bytes: [UInt8] = []

    static func datagram(_ build: (inout NetlinkBuilder) -> Void) -> [UInt8] {
        var builder = NetlinkBuilder()
        build(&builder)
        return builder.bytes
    }

    mutating func link(
        _ index: Int32, _ name: String?, flags: UInt32 = 0x1043, hardwareAddress: [UInt8] = [2, 0, 0, 0, 0, 1],
        carrierChanges: UInt32 = 1, family: UInt8 = 0, removed: Bool = false, sequence: UInt32 = 0,
        headerFlags: UInt16 = 2
    ) {
        message(removed ? 17 : 16, sequence, headerFlags) { body in
            body += [family, 0] + native(UInt16(1)) + native(index) + native(flags) + native(UInt32(0))
            guard let name else { return }
            body += attribute(3, Array(name.utf8) + [0])
            body += attribute(1, hardwareAddress)
            body += attribute(35, native(carrierChanges))
        }
    }

    mutating func address(
        _ index: Int32, _ address: [UInt8], _ prefixLength: UInt8, flags: UInt32 = 0x80, local: [UInt8]? = nil,
        mark: UInt8? = nil, removed: Bool = false, sequence: UInt32 = 0, headerFlags: UInt16 = 2
    ) {
        message(removed ? 21 : 20, sequence, headerFlags) { body in
            body += [address.count == 4 ? 2 : 10, prefixLength, UInt8(flags & 0xFF), 0] + native(index)
            body += attribute(1, address)
            if let local { body += attribute(2, local) }
            body += attribute(8, native(flags))
            if let mark { body += attribute(11, [mark]) }
        }
    }

    /// Adds a neighbour that was confirmed `age` hundredths of a second ago.
    mutating func neighbour(_ index: Int32, _ address: [UInt8], _ card: [UInt8], state: UInt16 = 2, age: UInt32 = 0) {
        message(28, 0, 2) { body in
            body += [address.count == 4 ? 2 : 10, 0, 0, 0] + native(index) + native(state) + [0, 1]
            body += attribute(1, address) + attribute(2, card)
            body += attribute(3, native(age) + [UInt8](repeating: 0, count: 12))
        }
    }

    mutating func done(_ sequence: UInt32, headerFlags: UInt16 = 2) {
        message(3, sequence, headerFlags) { $0 += native(UInt32(0)) }
    }

    mutating func refused(_ sequence: UInt32, code: Int32) {
        message(2, sequence, 0) { $0 += native(-code) + [UInt8](repeating: 0, count: 16) }
    }

    mutating func overrun() { message(4, 0, 0) { _ in } }

    private mutating func message(_ type: UInt16, _ sequence: UInt32, _ flags: UInt16, _ write: (inout [UInt8]) -> Void)
    {
        var body: [UInt8] = []
        write(&body)
        bytes += native(UInt32(16 + body.count)) + native(type) + native(flags) + native(sequence) + native(UInt32(0))
        bytes += body
        while !bytes.count.isMultiple(of: 4) { bytes.append(0) }
    }
}

private func native(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

private func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
    var bytes = native(UInt16(4 + value.count)) + native(type) + value
    while !bytes.count.isMultiple(of: 4) { bytes.append(0) }
    return bytes
}
